// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "roce/impair/rule.h"
#include "roce/wire/packet.h"
#include "roce/wire/time.h"
#include "roce/wire/types.h"

namespace roce::impair {

/// Resources that the engine may use. Its memory never exceeds the bound that follows from these numbers.
struct Limits {
  /// Number of packets held by `delay` or `reorder`, and their bytes. A packet that would exceed either limit
  /// passes without its delay and reorder, and its log record has `LogOutcome::over_limit`.
  std::size_t held_packets = 1024;
  std::size_t held_bytes = 4U << 20U;
  /// Packets that pass without being held and were not polled yet; `submit` refuses more.
  std::size_t ready_packets = 64;
  /// Longest frame that `submit` takes.
  std::size_t frame_bytes = 66'000;
  /// Flows that are remembered. A new flow replaces the one that was silent longest;
  /// if that one returns, its first PSN and its transmissions count from its next packet (`Stats::flows_forgotten`).
  std::size_t flows = 256;
  /// PSNs of a flow whose transmissions are counted, rounded up to a power of two.
  /// A count is exact as long as, between two transmissions, no PSN passes that is a multiple of this number away,
  /// and no third class of packet with the same PSN; after that the PSN that was silent longer starts again from 1.
  std::size_t psns_per_flow = 1024;
  /// Log records that were not polled yet; more are left out and counted in `Stats::log_lost`.
  std::size_t log_records = 4096;
};

/// A flow: one direction between two addresses, towards one QP.
struct Flow {
  Direction direction{};
  Gid source{};
  Gid destination{};
  Qpn dest_qp{};

  friend bool operator==(const Flow&, const Flow&) = default;
};

enum class LogOutcome : std::uint8_t {
  done,
  over_limit,  ///< the packet should have been held, but `Limits` left no room: it passed at once
};

/// One action on one packet.
struct LogRecord {
  Time time{};               ///< time at which the packet was submitted
  std::uint64_t packet = 0;  ///< number of the frame among all that were submitted, from 1
  std::uint32_t rule = 0;    ///< index in `Engine::rules()`
  LogOutcome outcome = LogOutcome::done;
  bool is_roce = false;  ///< if false, only the direction is valid in `flow` and the packet's other members below
  Flow flow{};
  Opcode opcode{};
  PacketClass packet_class = PacketClass::other;
  Psn psn{};
  std::int32_t relative_psn = 0;
  std::uint32_t transmission = 0;
  std::uint64_t match = 0;  ///< number of this packet among those that fulfil the rule's conditions, from 1

  friend bool operator==(const LogRecord&, const LogRecord&) = default;
};

/// A frame to be passed on. `bytes` are valid until the next call of a non-const member of the engine.
struct Output {
  Direction direction{};
  Bytes bytes;
  Time due{};                ///< time at which the frame became due
  std::uint64_t packet = 0;  ///< number under which the frame was submitted, from 1
};

/// Frame counts since construction. submitted + duplicates == polled + dropped + packets_inside().
struct Stats {
  std::uint64_t submitted = 0;
  std::uint64_t polled = 0;
  std::uint64_t dropped = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t over_limit = 0;  ///< frames that passed without the delay or reorder intended for them
  std::uint64_t log_lost = 0;
  std::uint64_t flows_forgotten = 0;

  friend bool operator==(const Stats&, const Stats&) = default;
};

enum class Submitted : std::uint8_t {
  taken,
  full,      ///< `Limits::ready_packets` frames wait to be polled: poll, then submit the frame again
  too_long,  ///< longer than `Limits::frame_bytes`: nothing was done
};

/// Passes frames on between two sides and applies the rules to them. Deterministic:
/// the same rules, seed and calls give the same frames and the same log on every machine. Without rules it is a queue.
///
/// Every rule looks at the frame as it was submitted and counts for itself, so that no rule changes which packets
/// another rule picks. If several rules pick a packet, their actions combine as follows: any drop drops it, and all
/// other actions are left out. Otherwise edit, mark_ce and corrupt are carried out in the order of the rules, each on
/// the result of the one before; copies add up; delays add up; of several reorders the largest `by` and the longest
/// timeout count; a packet with both a delay and a reorder waits for both. Copies go directly after their packet.
///
/// Frames are single packets: a frame with several behind one header (segmentation offload) has to be cut first.
class Engine {
 public:
  /// `link_type`: the header that the frames begin with.
  explicit Engine(RuleSet rules, std::uint64_t seed = 0, Limits limits = {}, LinkType link_type = LinkType::ethernet);
  ~Engine();
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;

  /// Takes a whole frame that travels in `direction`; the bytes are copied, once.
  /// `now` must not be earlier than in any previous call.
  [[nodiscard]] Submitted submit(Direction direction, Bytes frame, Time now);

  /// Returns the next frame that is due at `now`, in the order of (due, scheduling); empty if no frame is due.
  [[nodiscard]] std::optional<Output> poll(Time now);

  /// Returns when `poll` will have a frame if nothing is submitted before then;
  /// a time in the past if one is due already; kNever if there is no frame inside.
  [[nodiscard]] Time next_timeout() const;

  /// Returns the next log record, in the order of the actions.
  [[nodiscard]] std::optional<LogRecord> poll_log();

  [[nodiscard]] const RuleSet& rules() const;
  [[nodiscard]] const Stats& stats() const;
  /// Returns the number of frames that are yet to be polled, copies included.
  [[nodiscard]] std::size_t packets_inside() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// Returns one line: `0.001234567 a_to_b packet 7: drop (rule 1 'fifth') 192.0.2.1 > 192.0.2.2 qp 0x000011
/// RC_WRITE_MIDDLE psn 105 (+5) transmission 1`. `rules` are those of the engine.
[[nodiscard]] std::string to_string(const LogRecord& record, const RuleSet& rules);

}  // namespace roce::impair
