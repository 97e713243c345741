// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "analyze/counters/host_facts.h"
#include "analyze/run/compact_queue.h"

namespace roce::analyze {

/// A request packet as its responder counts it. PSNs count from the requester's first one and do not wrap.
struct RequestPacket {
  std::int64_t psn = 0;
  std::optional<std::int64_t> psn_count{};  ///< PSNs that it takes, for a READ those of its answer; not set: unknown
  std::optional<HostFact> begins{};         ///< additional fact that it counts as, if it begins its message
  bool starts_message = false;
  std::uint32_t bytes = 0;  ///< size of its frame
};

/// Follows the requests of one direction of a reliable connection at their responder, and the NAKs at their requester.
/// A request counts as executed when it is seen in order; a response that contradicts takes that back.
class RequestChannel {
 public:
  /// `arrives`: a packet seen here surely reaches the responder, which accepts it.
  void on_request(const RequestPacket& request, bool arrives, FactCounts& responder);
  /// Handles an ACK: everything up to `psn` was executed.
  void on_ack(std::int64_t psn, FactCounts& responder);
  /// Handles a sequence error NAK: the responder waits for `psn` and has discarded the requests after it.
  void on_sequence_nak(std::int64_t psn, FactCounts& responder, FactCounts& requester);
  void on_rnr_nak(std::int64_t psn, FactCounts& responder);
  /// Handles an error NAK: the responder accepts no requests after `psn`.
  void on_error_nak(std::int64_t psn, FactCounts& responder);
  /// Handles the end of a capture without any response: there may be no QP that accepted the requests.
  void on_unanswered(FactCounts& responder);

  /// True if a request that is sent again goes back, rather than following the one that was sent again last.
  [[nodiscard]] bool goes_back(std::int64_t psn, bool is_repeated);

  /// True if no request is left whose execution depends on the next answer.
  [[nodiscard]] bool is_settled() const { return executed_.empty(); }
  /// True if the responder was not ready for a request that has not been sent again yet.
  [[nodiscard]] bool is_put_off() const { return put_off_.has_value(); }
  /// True if any request was sent again.
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

  /// Takes back the execution of the requests from `psn` on. Calls `on_taken(const Executed&)` for each one after it.
  template <typename Use>
  void take_back(std::int64_t psn, FactCounts& responder, Use on_taken);
  void acknowledge_until(std::int64_t psn);

  static constexpr std::size_t kMaxRemembered = 65'536;

  bool has_begun_ = false;
  State state_ = State::in_order;
  std::int64_t expected_ = 0;           ///< PSN that the responder expects
  bool may_be_farther_ = false;         ///< the last request was a READ of unknown length
  std::int64_t acknowledged_ = 0;       ///< all PSNs before this one are acknowledged
  CompactQueue<Executed> executed_;     ///< executed and not yet acknowledged, by PSN
  CompactQueue<std::int64_t> starts_;   ///< of messages that are not acknowledged, by PSN
  CompactQueue<Duplicate> duplicates_;  ///< not acknowledged, in order of arrival
  std::optional<std::int64_t> put_off_;
  std::optional<std::int64_t> last_repeated_;
  bool was_repeated_ = false;
};

}  // namespace roce::analyze
