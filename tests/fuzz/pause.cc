// SPDX-License-Identifier: BSD-2-Clause
#include "roce/analysis/pause.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <vector>

#include "analysis/state_archive.h"
#include "input.h"

// The input is a link: a byte for the options, then possibly a state as a tracker may have saved it, then records of
// five bytes that make PFC, PAUSE and RoCE frames of a few stations. Always required: each frame is counted once; a
// breach refers to an earlier frame, of a station that was heard to pause; no duration is negative; a state that is
// accepted is saved again unchanged; and trackers that take turns find the same as one tracker.

namespace {

using namespace roce;
using namespace roce::analysis;
using roce::test::Input;

constexpr std::size_t kMaxFrames = 4096;
constexpr std::int64_t kMaxTime = (std::int64_t{1} << 62U) - 1;

void check(bool holds) {
  if (!holds) std::abort();
}

MacAddress station(std::uint8_t number) {
  return MacAddress{{2, 0, 0, 0, 0, number}};
}

/// Returns a state in which only the enclosing frame is right: its numbers are whatever the input holds.
std::vector<std::byte> made_up_state(Input& input, unsigned numbers) {
  StateWriter archive;
  for (unsigned i = 0; i < numbers && !input.empty(); ++i) {
    const std::uint8_t kind = input.byte();
    std::uint64_t value = kind & 0x7FU;
    if ((kind & 0x80U) != 0) value = std::uint64_t{input.word()} << (kind & 0x3FU);
    archive.number(value);
  }
  return std::move(archive).sealed("RPAU");
}

/// Feeds a tracker and checks everything that it reports.
class Checker {
 public:
  Checker(const PauseOptions& options, bool takes_turns)
      : options_(options), takes_turns_(takes_turns), tracker_(options) {}

  void restore(const std::vector<std::byte>& state) {
    if (!tracker_.restore(state)) return;
    for (const PauseSummary& summary : tracker_.summaries()) frames_before_ += summary.frames;
    frames_before_ += tracker_.uncounted_frames();
    is_restored_ = true;
  }

  void feed(const Observation& frame) {
    if (frame.kind == PacketKind::roce) {
      const auto breach = tracker_.observe(frame);
      mix(breach ? breach->xoff.frame : 0);
      if (breach) look_at(frame, *breach);
    } else {
      check(!tracker_.observe(frame));
      ++frames_;
    }
    if (takes_turns_ && (frame.id.frame & (frame.id.frame - 1)) == 0) take_turns();
  }

  void finish() {
    std::uint64_t frames = tracker_.uncounted_frames();
    const std::vector<PauseSummary> summaries = tracker_.summaries();
    check(is_restored_ || summaries.size() <= options_.stations);
    for (const PauseSummary& summary : summaries) {
      frames += summary.frames;
      mix(summary.frames);
      for (const PauseCounts& counts : summary.counts) {
        check(counts.xoff_to_xon >= Duration{} && counts.longest_until_xon >= Duration{});
        check(counts.paused.value_or(Duration{}) >= Duration{});
        if (!is_restored_) {
          check(counts.ended <= counts.xon && counts.ended <= counts.xoff);
          check(counts.longest_until_xon <= counts.xoff_to_xon);
          check(!counts.paused || options_.link_bits_per_second != 0);
        }
        mix(counts.xoff);
        mix(counts.quanta);
        mix(static_cast<std::uint64_t>(counts.xoff_to_xon.count()));
        mix(static_cast<std::uint64_t>(counts.paused.value_or(Duration{-1}).count()));
      }
    }
    check(frames == frames_before_ + frames_);
  }
  /// Returns a digest of everything that was reported.
  [[nodiscard]] std::uint64_t digest() const { return digest_; }

 private:
  void look_at(const Observation& packet, const PauseBreach& breach) {
    check(breach.elapsed > Duration{});
    if (!is_restored_) check(breach.xoff && breach.xoff < packet.id);
    const std::vector<PauseSummary> summaries = tracker_.summaries();
    check(std::any_of(summaries.begin(), summaries.end(),
                      [&](const PauseSummary& each) { return each.source == packet.destination_mac; }));
    const Verdict verdict = breach_verdict(packet, breach, 0);
    check(verdict.kind == VerdictKind::sent_while_paused && verdict.packet == packet.id);
  }
  void take_turns() {
    const std::vector<std::byte> state = tracker_.save();
    PauseTracker next{options_};
    check(next.restore(state).has_value());
    check(next.save() == state);
    check(next.summaries() == tracker_.summaries());
    tracker_ = std::move(next);
  }
  void mix(std::uint64_t value) { digest_ = (digest_ ^ value) * 0x9E37'79B9'7F4A'7C15 + 1; }

  PauseOptions options_;
  bool takes_turns_;
  PauseTracker tracker_;
  bool is_restored_ = false;
  std::uint64_t frames_before_ = 0;
  std::uint64_t frames_ = 0;
  std::uint64_t digest_ = 0;
};

Time moved(Time time, std::uint8_t step) {
  const auto ns = time.time_since_epoch().count();
  if (step == 0x7F) return Time{Duration{kMaxTime}};
  if (step == 0xFF) return Time{Duration{-kMaxTime}};
  // Mostly forward, in steps of a nanosecond to four minutes.
  const std::int64_t by = std::int64_t{1} << ((step & 0x3FU) * 38U / 63U);
  return Time{Duration{std::clamp((step & 0x40U) != 0 ? ns - by : ns + by, -kMaxTime, kMaxTime)}};
}

/// Makes a frame. Bits 0 and 1 of the first byte are the kind, 2 to 4 the source, 5 to 7 the destination.
Observation frame(Input& input) {
  const std::uint8_t what = input.byte();
  const std::uint8_t enabled = input.byte();
  const std::uint32_t quanta = input.word();
  Observation frame;
  frame.source_mac = station(what >> 2U & 7U);
  frame.destination_mac = (what >> 5U) == 7 ? MacAddress{} : station(what >> 5U);
  frame.wire_length = 64;
  switch (what & 3U) {
    case 0:
      frame.kind = PacketKind::pfc;
      frame.pause_enabled = enabled;
      for (std::size_t i = 0; i < frame.pause_quanta.size(); ++i) {
        frame.pause_quanta.at(i) = static_cast<std::uint16_t>(i % 2 == 0 ? quanta : quanta >> 8U);
      }
      break;
    case 1:
      frame.kind = PacketKind::pause;
      frame.pause_enabled = 0xFF;
      frame.pause_quanta[0] = static_cast<std::uint16_t>(quanta);
      break;
    default:
      frame.kind = PacketKind::roce;
      frame.link_priority = (enabled & 8U) != 0 ? Observation::kNoPriority : enabled & 7U;
      break;
  }
  return frame;
}

std::uint64_t run(Bytes bytes, bool takes_turns) {
  Input input{bytes};
  const std::uint8_t shape = input.byte();
  constexpr std::array<std::uint64_t, 4> kSpeeds{0, 1, 100'000'000'000, 800'000'000'000};
  Checker checker{{.link_bits_per_second = kSpeeds.at(shape & 3U), .stations = std::size_t{1} + (shape >> 2U & 7U)},
                  takes_turns};
  if ((shape & 0x20U) != 0) checker.restore(made_up_state(input, input.byte()));
  Time now{Duration{1'000'000'000}};
  for (std::size_t made = 0; made < kMaxFrames && !input.empty(); ++made) {
    Observation next = frame(input);
    now = moved(now, input.byte());
    next.time = now;
    next.id = {made + 1, 0};
    checker.feed(next);
  }
  checker.finish();
  return checker.digest();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes{reinterpret_cast<const std::byte*>(data), size};
  const std::uint64_t digest = run(bytes, false);
  // A second run doubles the time, so that not every input gets one.
  if (size > 0 && (data[0] & 0x40U) != 0) check(run(bytes, true) == digest);
  return 0;
}
