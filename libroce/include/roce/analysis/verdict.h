// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "roce/analysis/observation.h"
#include "roce/analysis/rule.h"
#include "roce/wire/mad.h"
#include "roce/wire/time.h"
#include "roce/wire/types.h"

namespace roce::analysis {

/// The kinds of statements about a packet. docs/analysis.md has a diagram and advice for each.
enum class VerdictKind : std::uint8_t {
  // About a request packet, when it is seen.
  gap,             ///< the PSNs before it were not seen
  retransmission,  ///< its PSN was sent before
  out_of_order,    ///< it belongs before packets that were seen already, and was not sent again
  // About any packet, when it is seen.
  duplicate,          ///< a copy of a packet, made by the network or by the way the capture was made
  bad_icrc,           ///< its receiver drops it, so nothing is concluded from its fields
  ce_mark,            ///< a switch marked it "congestion experienced"
  cnp,                ///< a congestion notification
  new_connection,     ///< the QP numbers are used again by another connection
  sent_while_paused,  ///< it goes to a station that had paused its priority; reported by `PauseTracker`
  rule_broken,        ///< its sender breaks a rule of the protocol: `Verdict::rule`
  // About a CM message, when it is seen.
  cm_repeated,    ///< its sender sends it again
  setup_delayed,  ///< it completes a connection whose CM messages had to be repeated
  // About a response packet, when it is seen.
  response_gap,           ///< READ responses before it were not seen
  response_out_of_order,  ///< a READ response that belongs before ones that were seen already
  response_repeated,      ///< a READ or atomic was answered again
  nak_sequence_error,
  nak_invalid_request,
  nak_remote_access_error,
  nak_remote_operational_error,
  nak_invalid_rd_request,
  rnr_nak,
  credit_stall,   ///< the requester had used up its credits; this response grants more
  duplicate_ack,  ///< it acknowledges the same PSN as the one before
  ghost_ack,      ///< it acknowledges less than one before it
  ack_of_unseen,  ///< it answers requests that are not in the capture
  implied_nak,    ///< it passes a READ or atomic that was not answered
  // Attached later to a packet that was seen.
  request_lost_after,    ///< seen here, and did not arrive at the responder
  request_late_after,    ///< seen here, and arrived at the responder after its successors
  response_lost_after,   ///< seen here, and did not arrive at the requester
  response_not_in_time,  ///< seen here, and lost or overtaken by later responses on its way to the requester
  lost_beyond,           ///< it, or its answer, was lost on the responder's side of the capture point
  no_answer,             ///< sent for the last time and never answered
  never_ready,           ///< refused by an RNR NAK, and not sent again
  // Attached later to packets that were not seen; about the packet that revealed it.
  request_lost_before,   ///< lost between the requester and the capture point
  response_lost_before,  ///< lost between the responder and the capture point
  lost_for_good,         ///< of an unreliable connection: lost before the capture point, or missed by the capture
  missed_by_capture,     ///< it arrived; only the capture does not have it
  reordered,             ///< it was seen later, and nothing was lost
  unexplained,           ///< the capture does not show what became of it
  count,
};

enum class VerdictTime : std::uint8_t {
  immediate,      ///< follows from the past; known when the packet is seen
  retrospective,  ///< follows from later packets
};

enum class Severity : std::uint8_t { note, warning, error };

/// The description of a kind of verdict, for all lists of verdicts.
struct VerdictInfo {
  VerdictKind kind{};
  std::string_view name;  ///< e.g. `request_lost_after`, as in JSON; prefixed with `roce.analysis.` in filters
  VerdictTime time{};
  Severity severity{};
  std::string_view text;    ///< description of the verdict: a sentence without its full stop
  std::string_view advice;  ///< what an operator should do about it; may be empty
};

[[nodiscard]] const VerdictInfo& verdict_info(VerdictKind kind);
[[nodiscard]] std::span<const VerdictInfo> verdict_infos();
[[nodiscard]] std::optional<VerdictKind> verdict_from_name(std::string_view name);

/// Returns the kind of verdict that reports a broken rule.
[[nodiscard]] VerdictKind verdict_of(Rule rule);

/// The cause of an event, as far as it can be determined.
enum class Cause : std::uint8_t {
  none,
  unknown,
  nak,          ///< after a NAK for a PSN sequence error
  rnr,          ///< after an RNR NAK
  implied_nak,  ///< after a response passed an unanswered READ or atomic
  timeout,      ///< no other event requested it
  network,      ///< for a duplicate: the network made it
  capture,      ///< for a duplicate: the capture has the packet twice
  corrupted,    ///< for a loss: it was seen here, with a wrong ICRC
};

[[nodiscard]] std::string_view to_string(Cause cause);

/// Returns the name of a CM message, such as `CM REP`; empty if it has none.
[[nodiscard]] std::string_view cm_message_name(MadAttribute message);

/// A statement about a packet.
struct Verdict {
  VerdictKind kind{};
  Cause cause = Cause::none;
  Rule rule = Rule::none;   ///< the rule that the sender of `packet` breaks
  bool spurious = false;    ///< a retransmission that the responder had acknowledged before, as seen here
  std::uint16_t point = 0;  ///< capture point of `packet`: `Observation::point`
  std::uint32_t stream = 0;
  PacketId packet{};  ///< the packet that the verdict is about
  PacketId other{};   ///< the packet that it refers to: the previous transmission, the NAK, the request
  Time time{};        ///< time of `packet`
  Psn first_psn{};    ///< first PSN that the verdict is about; for packets that were not seen, the first missing one
  std::uint32_t psn_count = 1;
  /// Packets whose loss on the wire the verdict reports and no other verdict does: 1 for a READ request, whatever
  /// number of PSNs it takes, and 1 for `lost_beyond`, which is about a message and the answer to it. 0: none, or it is
  /// unknown.
  std::uint32_t lost_packets = 0;
  Duration elapsed{};  ///< time since `other`; for an RNR NAK the wait that it asks for; 0 unknown
  /// For `no_answer` and `cm_repeated`, how many times it was sent; for `never_ready`, how many RNR NAKs refused it;
  /// for `setup_delayed`, how many CM messages of the connection were repetitions.
  std::uint32_t tries = 0;
  std::uint8_t ack_timeout = 0;  ///< for `no_answer`, the exponent n of the ACK timeout, 4.096 us * 2^n; 0 unknown
  MadAttribute cm_message{};     ///< for `cm_repeated`, which CM message it is
  /// For `no_answer` and `never_ready`, the direction of the request: 0 from `StreamSummary::ends[0]`.
  std::uint8_t direction = 0;

  friend bool operator==(const Verdict&, const Verdict&) = default;
};

}  // namespace roce::analysis
