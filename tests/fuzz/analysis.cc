// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <vector>

#include "input.h"
#include "roce/analysis/tracker.h"
#include "roce/wire/icrc.h"
#include "roce/wire/mad.h"
#include "roce/wire/opcode.h"
#include "roce/wire/packet.h"

// The input is a capture: a byte for the limits and for whether it is analysed twice, then records. Most are ten bytes
// that make one packet, or a run of packets, of a few hosts and QPs; the others are frames for the parser. Always
// required: verdicts refer to packets that were seen, and to no more PSNs than one side can have under way; they come
// at the time that their kind promises; counts never fall, and every packet and verdict is counted once; no more
// streams are open than allowed; the same packets give the same verdicts, also when trackers take turns, each going on
// from the state that the one before saved.

namespace {

using namespace roce;
using roce::test::Input;
using namespace roce::analysis;

constexpr std::size_t kMaxPackets = 1000;
// Half of the PSNs: beyond that, ahead cannot be told from behind.
constexpr std::uint32_t kMaxPsnCount = 1U << 23U;
constexpr std::int64_t kMaxTime = (std::int64_t{1} << 62U) - 1;

void check(bool holds) {
  if (!holds) std::abort();
}

std::vector<Opcode> defined_opcodes() {
  std::vector<Opcode> opcodes;
  for (unsigned code = 0; code < 256; ++code) {
    if (opcode_info(static_cast<Opcode>(code)).defined()) opcodes.push_back(static_cast<Opcode>(code));
  }
  return opcodes;
}

/// Feeds a tracker and checks everything that it reports.
class Checker {
 public:
  Checker(const Limits& limits, bool takes_turns)
      : limits_(limits), takes_turns_(takes_turns), tracker_({.limits = limits}) {}

  void feed(const Observation& observation) {
    const std::uint64_t before = observed_++;
    check(observation.id > current_);
    current_ = observation.id;
    const PacketAnalysis& result = tracker_.observe(observation);
    const bool is_followed =
        observation.kind == PacketKind::roce && observation.info().defined() && observation.is_whole;
    if (is_followed && !observation.icrc_bad) {
      ++counted_;
      check(result.stream != kNoStream);
    }
    check(is_followed || (result.stream == kNoStream && result.verdicts.empty()));
    // A packet begins at most one stream.
    check(result.stream == kNoStream || result.stream <= before);
    check(result.direction < 2);
    check(result.message_first <= current_ && result.request <= current_);
    for (const Verdict& verdict : result.verdicts) {
      check(verdict_info(verdict.kind).time == VerdictTime::immediate);
      check(verdict.packet == current_);
      check(verdict.stream == result.stream);
      look_at(verdict);
    }
    mix(result.stream);
    mix(static_cast<std::uint64_t>(result.relative_psn));
    mix(result.message);
    mix(static_cast<std::uint64_t>(result.latency.count()));
    drain();
    check(tracker_.stream_count() <= limits_.streams);
    check(tracker_.evictions().streams >= evictions_.streams && tracker_.evictions().requests >= evictions_.requests);
    evictions_ = tracker_.evictions();
    if ((observed_ & (observed_ - 1)) != 0) return;
    look_at_streams();
    if (takes_turns_) take_turns();
  }
  void finish() {
    tracker_.finish();
    drain();
    check(tracker_.stream_count() == 0);
    look_at_streams();
  }
  /// Returns a digest of everything that was reported.
  [[nodiscard]] std::uint64_t digest() const { return digest_; }

 private:
  void look_at(const Verdict& verdict) {
    check(verdict.packet && verdict.packet <= current_ && verdict.other <= current_);
    check(verdict.psn_count >= 1 && verdict.psn_count < kMaxPsnCount);
    check(verdict.stream == kNoStream || verdict.stream < observed_);
    if (verdict.stream != kNoStream) ++verdicts_.at(static_cast<std::size_t>(verdict.kind));
    mix(static_cast<std::uint64_t>(verdict.kind) << 8U | static_cast<std::uint64_t>(verdict.cause));
    mix(verdict.stream);
    mix(verdict.packet.frame);
    mix(verdict.other.frame);
    mix(std::uint64_t{verdict.first_psn.value()} << 32U | verdict.psn_count);
    mix(static_cast<std::uint64_t>(verdict.elapsed.count()));
  }
  void drain() {
    later_.clear();
    tracker_.drain(later_);
    for (const Verdict& verdict : later_) {
      check(verdict_info(verdict.kind).time == VerdictTime::retrospective);
      look_at(verdict);
    }
    messages_.clear();
    tracker_.drain_messages(messages_);
    for (const Message& message : messages_) {
      check(message.first && message.first <= current_ && message.last <= current_ && message.answer <= current_);
      check(message.psn_count >= 1 && message.direction < 2 && message.stream < observed_);
      mix(message.bytes);
      mix(message.number);
    }
    answers_.clear();
    tracker_.drain_answers(answers_);
    for (const Answer& answer : answers_) {
      check(answer.request && answer.request < answer.response && answer.response == current_);
    }
  }
  void take_turns() {
    tracker_.drain_closed(closed_);
    const std::vector<std::byte> state = tracker_.save();
    Tracker next{{.limits = limits_}};
    check(next.restore(state).has_value());
    check(next.save() == state);
    tracker_ = std::move(next);
  }
  void look_at_streams() {
    std::vector<StreamSummary> streams = tracker_.streams();
    streams.insert(streams.end(), closed_.begin(), closed_.end());
    std::sort(streams.begin(), streams.end(),
              [](const StreamSummary& a, const StreamSummary& b) { return a.stream < b.stream; });
    std::uint64_t packets = 0;
    std::array<std::uint64_t, static_cast<std::size_t>(VerdictKind::count)> verdicts{};
    auto old = before_.begin();
    for (const StreamSummary& stream : streams) {
      check(stream.stream < observed_ && stream.first && stream.first <= stream.last && stream.last <= current_);
      for (const DirectionSummary& direction : stream.directions) packets += direction.packets;
      for (std::size_t i = 0; i < verdicts.size(); ++i) verdicts[i] += stream.count(static_cast<VerdictKind>(i));
      // Streams that were joined count as one, under one of their numbers.
      while (old != before_.end() && old->stream < stream.stream) ++old;
      if (old != before_.end() && old->stream == stream.stream) look_at_growth(*old, stream);
    }
    check(packets == counted_);
    check(verdicts == verdicts_);
    before_ = streams;
  }
  static void look_at_growth(const StreamSummary& before, const StreamSummary& now) {
    for (const auto& [kind, count] : before.verdicts.entries()) check(now.count(kind) >= count);
    for (std::size_t i = 0; i < before.directions.size(); ++i) {
      check(now.directions[i].packets >= before.directions[i].packets);
      check(now.directions[i].bytes >= before.directions[i].bytes);
    }
    check(now.lost_psns >= before.lost_psns && now.missed_psns >= before.missed_psns);
    check(now.end >= before.end);
  }
  void mix(std::uint64_t value) { digest_ = (digest_ ^ value) * 0x9E37'79B9'7F4A'7C15 + 1; }

  Limits limits_;
  bool takes_turns_;
  Tracker tracker_;
  std::vector<StreamSummary> closed_;
  Evictions evictions_;
  PacketId current_{};
  std::uint64_t observed_ = 0;
  std::uint64_t counted_ = 0;
  std::array<std::uint64_t, static_cast<std::size_t>(VerdictKind::count)> verdicts_{};
  std::vector<Verdict> later_;
  std::vector<Message> messages_;
  std::vector<Answer> answers_;
  std::vector<StreamSummary> before_;
  std::uint64_t digest_ = 0;
};

/// Makes the packets of the records.
class Maker {
 public:
  Maker(Input& input, Checker& checker) : input_(input), checker_(checker) {}

  void run() {
    while (!input_.empty() && made_ < kMaxPackets) {
      const std::uint8_t what = input_.byte();
      if (what >= 0xF8) {
        frame();
      } else if (what >= 0xF0) {
        copy(what);
      } else {
        packets(what);
      }
    }
  }

 private:
  static Gid host(unsigned number) { return Gid::from_ipv4({{10, 0, 0, static_cast<std::uint8_t>(number + 1)}}); }

  void feed(Observation observation) {
    observation.time = now_;
    observation.id = {++made_, 0};
    recent_.at(made_ % recent_.size()) = observation;
    checker_.feed(observation);
  }

  /// Bit 7 is the direction (1: backwards), the others an exponent: powers of two nanoseconds. 0: no time passes.
  void pass_time(std::uint8_t step) {
    const unsigned exponent = std::min(step & 0x7FU, 62U);
    if (exponent == 0) return;
    const std::int64_t duration = (std::int64_t{1} << exponent) - 1;
    const std::int64_t now = now_.time_since_epoch().count();
    const std::int64_t later = (step & 0x80U) != 0 ? (now < duration - kMaxTime ? -kMaxTime : now - duration)
                                                   : (now > kMaxTime - duration ? kMaxTime : now + duration);
    now_ = Time{Duration{later}};
  }

  // Repeats one of the latest packets, as a mirror port or a router does.
  void copy(std::uint8_t what) {
    pass_time(input_.byte());
    Observation observation = recent_.at(input_.byte() % recent_.size());
    if (!observation.id) return;
    if ((what & 1U) != 0) --observation.hop_limit;
    if ((what & 2U) != 0) ++observation.ip_id;
    feed(observation);
  }

  void frame() {
    const std::uint8_t step = input_.byte();
    const Bytes taken = input_.take(input_.byte());
    // A vector of exactly the frame's size, so that a sanitizer sees every byte read beyond it.
    const std::vector<std::byte> bytes{taken.begin(), taken.end()};
    const Packet packet = parse_frame(bytes, LinkType::ethernet);
    pass_time(step);
    const Time time = step == 0x7F ? Time::max() : step == 0xFF ? Time::min() : now_;
    const Observation observation = observe_packet(packet, check_icrc(packet), time, {++made_, 0});
    checker_.feed(observation);
  }

  void management(Observation& observation, std::uint8_t id, std::uint8_t qpn) {
    constexpr std::array attributes{MadAttribute::cm_req, MadAttribute::cm_rep, MadAttribute::cm_dreq,
                                    MadAttribute::cm_rtu};
    observation.dest_qp = observation.source_qp = Qpn{1};
    observation.cm = {attributes.at(id & 3U),        id >> 2U & 3U, id >> 4U & 3U, Qpn{0x10U + (qpn & 3U)},
                      Psn{std::uint32_t{qpn} << 4U}, 1024,          id >> 2U & 3U};
  }

  /// Makes packets. Bits 0, 1: source; 2: destination; 3, 4: QP; 5: domain; 6, 7: origin of the PSN.
  void packets(std::uint8_t what) {
    static const std::vector<Opcode> opcodes = defined_opcodes();
    const std::uint8_t code = input_.byte();
    const std::uint8_t near = input_.byte();
    const std::uint8_t far = input_.byte();
    const std::uint8_t syndrome = input_.byte();
    const std::uint8_t step = input_.byte();
    const std::uint8_t flags = input_.byte();
    const std::uint8_t identity = input_.byte();
    const std::uint8_t length = input_.byte();
    const std::uint8_t repeat = input_.byte();

    const unsigned source = what & 3U;
    const unsigned destination = (what & 4U) != 0 ? source ^ 1U : source ^ 2U;
    const unsigned queue = what >> 3U & 3U;
    Observation observation;
    observation.kind = PacketKind::roce;
    observation.version = RoceVersion::v2_ipv4;
    observation.source = host(source);
    observation.destination = host(destination);
    observation.domain = what >> 5U & 1U;
    observation.opcode = code < 250 ? opcodes.at(code % opcodes.size()) : static_cast<Opcode>(code);
    const OpcodeInfo& info = observation.info();
    observation.dest_qp = Qpn{0x10U + queue};
    observation.source_qp = Qpn{0x20U + (identity & 1U)};
    observation.udp_source_port = static_cast<std::uint16_t>(49'152U + queue);
    observation.is_whole = (flags & 7U) != 7U;
    observation.ack_req = (flags & 0x08U) != 0;
    observation.icrc_bad = (flags & 0x30U) == 0x30U;
    observation.has_icrc = (flags & 0x40U) == 0;
    observation.has_ip_id = (flags & 0x80U) != 0;
    observation.ip_id = identity;
    observation.icrc = identity >> 1U;
    observation.hop_limit = static_cast<std::uint8_t>(64U - (identity & 3U));
    observation.traffic_class = flags & 3U;
    observation.has_aeth = true;
    observation.syndrome = AethSyndrome{syndrome};
    observation.has_reth = info.operation == Operation::read_request;
    observation.dma_length = length >= 0xF0 ? 0x8000'0000U : std::uint32_t{length} << (length & 7U);
    observation.payload_length = (length & 0x80U) != 0 ? 256U << (length & 7U) : length;
    observation.wire_length = observation.payload_length + 74;
    if (info.service == Service::ud && (identity & 4U) != 0) management(observation, near, far);

    // Requests and their responses go on from the same PSN.
    const unsigned requester = info.is_response() ? destination : source;
    std::uint32_t& cursor = cursors_.at((requester * 4 + (source ^ destination)) * 4 + queue);
    std::uint32_t psn = cursor;
    const unsigned origin = what >> 6U;
    if (origin == 1) psn += static_cast<std::uint32_t>(static_cast<std::int8_t>(near));
    if (origin == 2) psn += (std::uint32_t{far} << 16U) + (std::uint32_t{near} << (far & 15U));
    if (origin == 3) psn = 0xFF'FF80U + near;
    // A run: PSNs at a fixed distance, up or down, for which no more input is read.
    const unsigned count = repeat < 0xC0 ? 1 : (repeat & 0x3FU) * 8 + 2;
    const auto stride = static_cast<std::uint32_t>(static_cast<std::int8_t>(far) / 16);
    for (unsigned i = 0; i < count && made_ < kMaxPackets; ++i) {
      pass_time(step);
      observation.psn = Psn{psn & 0xFF'FFFFU};
      feed(observation);
      psn += count == 1 ? 1 : stride;
      observation.icrc += 128;
      ++observation.ip_id;
    }
    if (!info.is_response()) cursor = psn;
  }

  Input& input_;
  Checker& checker_;
  Time now_{Duration{1'000'000'000}};
  std::uint64_t made_ = 0;
  std::array<Observation, 8> recent_{};
  std::array<std::uint32_t, 64> cursors_{};
};

std::uint64_t run(Bytes bytes, bool takes_turns) {
  Input input{bytes};
  const std::uint8_t shape = input.byte();
  const Limits limits{.streams = std::size_t{1} + (shape & 7U),
                      .requests_per_stream = std::size_t{32} << (shape >> 4U & 3U),
                      .responses_per_stream = 16,
                      .max_gap = 1U << ((shape & 8U) != 0 ? 20U : 8U)};
  Checker checker{limits, takes_turns};
  Maker{input, checker}.run();
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
