// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "roce/impair/engine.h"
#include "roce/link/link.h"
#include "roce/wire/packet.h"

namespace roce::gen {

/// The frames of one direction. received + duplicates == passed + dropped + unsendable + refused + held.
struct RelayCounters {
  std::uint64_t received = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t passed = 0;  ///< including copies
  std::uint64_t passed_bytes = 0;
  std::uint64_t dropped = 0;     ///< frames that a rule dropped
  std::uint64_t duplicates = 0;  ///< copies that rules made
  std::uint64_t held = 0;        ///< waiting in the relay now
  std::uint64_t missed = 0;      ///< lost before we saw them: the receive ring was full
  std::uint64_t unsendable = 0;  ///< lost: longer than the other interface's MTU, or super-frames that are not RoCE
  std::uint64_t refused = 0;     ///< lost: the kernel did not take them

  [[nodiscard]] std::uint64_t lost() const { return missed + unsendable + refused; }
};

/// How often a rule acted.
struct RuleCounters {
  std::array<std::uint64_t, 2> done{};  ///< number of actions, by `impair::Direction`
  std::uint64_t over_limit = 0;         ///< packets that should have been held but had no room
};

/// Passes frames between two Ethernet links through a fault engine, which decides what becomes of them. It never waits.
/// Super-frames of RoCE packets pass as the frames that they are on a wire.
class Relay {
 public:
  /// Sees each action of the engine.
  using Log = std::function<void(const impair::LogRecord&)>;
  /// Sees each frame as it came in at side 0 or 1 (`sent` false), or as it goes out there. `timestamp_ns` counts from
  /// the Unix epoch, 0 if unknown. The bytes are valid during the call.
  using Tap = std::function<void(std::size_t side, bool sent, Bytes frame, std::int64_t timestamp_ns)>;

  /// Frames that come in on `a` go `a_to_b`. Both links have to outlive the relay.
  Relay(link::Link& a, link::Link& b, impair::Engine engine);

  void set_log(Log log) { log_ = std::move(log); }
  void set_tap(Tap tap) { tap_ = std::move(tap); }

  /// Runs one round: takes the frames that came in, and passes on those that are due. True if anything moved; then
  /// there may be more to do at once. `now` must not go back. Error: a link is gone.
  [[nodiscard]] link::LinkResult<bool> turn(Time now);
  /// Returns the latest time of the next `turn` if nothing arrives; `kNever` if only an arrival needs one.
  [[nodiscard]] Time next_timeout() const { return engine_.next_timeout(); }
  /// True if frames wait for room on a link: call `turn` again soon.
  [[nodiscard]] bool wants_to_write() const { return !outboxes_[0].ends.empty() || !outboxes_[1].ends.empty(); }

  [[nodiscard]] const impair::Engine& engine() const { return engine_; }
  [[nodiscard]] RelayCounters counters(impair::Direction direction) const;
  /// Returns the counters of the rules, in the order of the engine's rules.
  [[nodiscard]] const std::vector<RuleCounters>& rule_counters() const { return rules_; }

 private:
  /// Frames of one direction that are to be sent; their bytes lie one behind the other.
  struct Outbox {
    std::vector<std::byte> bytes;
    std::vector<std::size_t> ends;
  };

  [[nodiscard]] link::LinkResult<std::size_t> receive(std::size_t side, Time now);
  [[nodiscard]] link::LinkResult<std::size_t> pass_on(Time now);
  [[nodiscard]] link::LinkResult<void> flush(std::size_t direction);
  /// Hands the engine a frame that came in, or one of the packets in it.
  [[nodiscard]] link::LinkResult<void> submit(std::size_t side, Bytes bytes, std::int64_t timestamp_ns, bool is_whole,
                                              Time now);
  void take_log();

  std::array<link::Link*, 2> links_;
  impair::Engine engine_;
  Log log_;
  Tap tap_;
  std::vector<link::RxFrame> received_;
  std::vector<std::byte> segment_;
  std::vector<link::TxFrame> sent_;
  std::array<Outbox, 2> outboxes_;  // by direction
  std::array<RelayCounters, 2> counters_;
  std::vector<RuleCounters> rules_;
};

}  // namespace roce::gen
