// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "analyze/compact_queue.h"
#include "analyze/host_facts.h"

namespace roce::analyze {

/// A request packet as its responder counts it. PSNs count from the first of the requester, across wraps.
struct RequestPacket {
  std::int64_t psn = 0;
  std::optional<std::int64_t> psn_count{};  ///< that it takes: of a READ those of its answer; none: unknown
  std::optional<HostFact> begins{};         ///< what it counts as besides, if it is the first of its message
  bool starts_message = false;
  std::uint32_t bytes = 0;  ///< of its frame
};

/// What becomes of the requests of one direction of a reliable connection at their responder, and of the NAKs at their
/// requester. A request counts as executed when it comes by in order; an answer that says otherwise takes that back.
class RequestChannel {
 public:
  /// `arrives`: what comes by here reaches the responder for sure, and it takes it.
  void on_request(const RequestPacket& request, bool arrives, FactCounts& responder);
  /// Everything up to `psn` was executed.
  void on_ack(std::int64_t psn, FactCounts& responder);
  /// The responder waits for `psn`, and has discarded what it got behind it.
  void on_sequence_nak(std::int64_t psn, FactCounts& responder, FactCounts& requester);
  void on_rnr_nak(std::int64_t psn, FactCounts& responder);
  /// The responder takes nothing any more, from what is behind `psn` on.
  void on_error_nak(std::int64_t psn, FactCounts& responder);
  /// The end, and nothing ever came back: there need not be a QP that took the requests.
  void on_unanswered(FactCounts& responder);

  /// Of a request that is sent again: whether the requester goes back with it, or goes on behind what it sent last.
  [[nodiscard]] bool goes_back(std::int64_t psn, bool is_repeated);

  /// Nothing is left of which only the next answer would tell.
  [[nodiscard]] bool is_settled() const { return executed_.empty(); }
  /// The responder was not ready for a request, and it was not sent again yet.
  [[nodiscard]] bool is_put_off() const { return put_off_.has_value(); }
  /// Any request was sent again.
  [[nodiscard]] bool was_repeated() const { return was_repeated_; }

 private:
  enum class State : std::uint8_t { in_order, missing, not_ready };
  struct Executed {
    std::int64_t psn = 0;
    std::optional<HostFact> begins{};
    std::uint32_t bytes = 0;
  };
  struct Duplicate {
    std::int64_t psn = 0;
    bool is_certain = false;
  };

  /// Takes back that requests from `psn` on were executed. `on_taken(const Executed&)`: called for each behind it.
  template <typename Use>
  void take_back(std::int64_t psn, FactCounts& responder, Use on_taken);
  void acknowledge_until(std::int64_t psn);

  static constexpr std::size_t kMaxRemembered = 65'536;

  bool has_begun_ = false;
  State state_ = State::in_order;
  std::int64_t expected_ = 0;           ///< by the responder
  bool may_be_farther_ = false;         ///< a READ of unknown length was the last
  std::int64_t acknowledged_ = 0;       ///< everything in front of this
  CompactQueue<Executed> executed_;     ///< and not acknowledged yet, by PSN
  CompactQueue<std::int64_t> starts_;   ///< of messages that are not acknowledged, by PSN
  CompactQueue<Duplicate> duplicates_;  ///< of what is not acknowledged, in the order in which they came
  std::optional<std::int64_t> put_off_;
  std::optional<std::int64_t> last_repeated_;
  bool was_repeated_ = false;
};

}  // namespace roce::analyze
