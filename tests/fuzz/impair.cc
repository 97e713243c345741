// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string_view>
#include <vector>

#include "input.h"
#include "roce/impair/engine.h"
#include "support/hex.h"
#include "support/vectors.h"

// The input is rules as text, a zero byte, and then events: frames, some of them from a fixed list with one byte
// changed, polls, and steps in time. The counts of frames must agree at every step; at the end everything is out, and
// each frame came out as often as the log has it.

namespace {

using namespace roce;
using roce::test::Input;
using namespace roce::impair;

void check(bool holds) {
  if (!holds) std::abort();
}

constexpr Limits kLimits{.held_packets = 8,
                         .held_bytes = 1500,
                         .ready_packets = 4,
                         .frame_bytes = 300,
                         .flows = 3,
                         .psns_per_flow = 4,
                         .log_records = 4096};

const std::vector<std::vector<std::byte>>& known_frames() {
  static const std::vector<std::vector<std::byte>> frames = [] {
    std::vector<std::vector<std::byte>> made;
    for (const test::Vector& vector : {test::kC1, test::kC2, test::kC3, test::kT1}) {
      made.push_back(test::from_hex(vector.hex));
    }
    return made;
  }();
  return frames;
}

/// The number of times that each frame has to come out, by the log alone.
class Ledger {
 public:
  void submitted(std::uint64_t packet) { expected_[packet] = 1; }
  void logged(const LogRecord& record, const Rule& rule) {
    const auto expected = expected_.find(record.packet);
    check(expected != expected_.end());
    if (std::holds_alternative<Drop>(rule.action)) --expected->second;
    if (const auto* duplicate = std::get_if<Duplicate>(&rule.action)) expected->second += duplicate->copies;
    const bool holds = std::holds_alternative<Reorder>(rule.action) || std::holds_alternative<Delay>(rule.action);
    check(holds || record.outcome == LogOutcome::done);
  }
  void polled(std::uint64_t packet) {
    check(expected_[packet]-- > 0);
    if (expected_[packet] == 0) --inside_;
  }
  /// Counts the frame that was submitted last if it is inside; its log is complete.
  void note_if_inside(std::uint64_t packet) { inside_ += expected_[packet] > 0 ? 1U : 0U; }
  [[nodiscard]] std::size_t inside() const { return inside_; }
  [[nodiscard]] bool is_settled() const {
    return std::ranges::all_of(expected_, [](const auto& pair) { return pair.second == 0; });
  }

 private:
  std::map<std::uint64_t, std::int64_t> expected_;
  std::size_t inside_ = 0;  ///< frames that are yet to come out, copies not counted
};

void check_engine(const RuleSet& rules, Input input) {
  Engine engine{rules, input.byte(), kLimits};
  Ledger ledger;
  Time now{};
  std::vector<std::byte> frame;
  const auto poll = [&] {
    const auto output = engine.poll(now);
    check(output.has_value() || engine.next_timeout() > now);
    if (!output) return false;
    check(output->due <= now && output->bytes.size() <= kLimits.frame_bytes);
    ledger.polled(output->packet);
    return true;
  };
  const auto read_log = [&] {
    while (const auto record = engine.poll_log()) {
      ledger.logged(*record, rules.rules()[record->rule]);
      check(!to_string(*record, rules).empty());
    }
    check(engine.stats().log_lost == 0);
  };
  while (!input.empty()) {
    const std::uint8_t step = input.byte();
    if (step < 0x40) {
      if (step < 0x30) {
        frame = known_frames()[step % known_frames().size()];
        frame[input.byte() % frame.size()] ^= static_cast<std::byte>(input.byte());
      } else {
        const Bytes taken = input.take(input.byte() * std::size_t{2});
        frame.assign(taken.begin(), taken.end());
      }
      const Direction direction = (step & 8U) != 0 ? Direction::b_to_a : Direction::a_to_b;
      const std::uint64_t before = engine.stats().submitted;
      const Submitted submitted = engine.submit(direction, frame, now);
      check((submitted == Submitted::too_long) == (frame.size() > kLimits.frame_bytes));
      check(engine.stats().submitted == before + (submitted == Submitted::taken ? 1 : 0));
      if (submitted == Submitted::taken) ledger.submitted(before + 1);
      read_log();
      if (submitted == Submitted::taken) ledger.note_if_inside(before + 1);
      check(ledger.inside() <= kLimits.held_packets + kLimits.ready_packets);
    } else if (step < 0xC0) {
      poll();
    } else {
      now += Duration{std::int64_t{1} << (step & 0x1FU)};
    }
    const Stats& stats = engine.stats();
    check(stats.submitted + stats.duplicates == stats.polled + stats.dropped + engine.packets_inside());
    check((engine.next_timeout() == kNever) == (engine.packets_inside() == 0));
  }
  while (engine.next_timeout() != kNever) {
    now = std::max(now, engine.next_timeout());
    check(poll());
  }
  check(ledger.is_settled());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4096) return 0;
  const std::string_view all{reinterpret_cast<const char*>(data), size};
  const std::string_view text = all.substr(0, all.find('\0'));
  const auto rules = RuleSet::from_text(text);
  if (!rules) {
    check(rules.error().rule > 0 && rules.error().message.starts_with("rule "));
    return 0;
  }
  const auto again = RuleSet::from_text(rules->to_text());
  check(again.has_value() && *again == *rules);
  const std::size_t used = std::min(text.size() + 1, size);
  check_engine(*rules, Input{Bytes{reinterpret_cast<const std::byte*>(data), size}.subspan(used)});
  return 0;
}
