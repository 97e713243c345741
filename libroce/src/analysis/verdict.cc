// SPDX-License-Identifier: BSD-2-Clause
// The verdicts with their names, severities and texts.
#include "roce/analysis/verdict.h"

#include <algorithm>
#include <array>

#include "roce/analysis/stream_summary.h"

namespace roce::analysis {

namespace {

using enum VerdictKind;
using enum VerdictTime;
using enum Severity;

constexpr std::array kInfos{
    VerdictInfo{gap, "gap", immediate, note, "the requests before it were not seen",
                "a later verdict says what became of them"},
    VerdictInfo{retransmission, "retransmission", immediate, warning, "the requester sends it again",
                "look for the loss or refusal that caused it"},
    VerdictInfo{out_of_order, "out_of_order", immediate, note, "it was overtaken by later requests, not lost",
                "adaptive routing or packet spraying; an RNIC that cannot take it answers with a NAK"},
    VerdictInfo{duplicate, "duplicate", immediate, note, "a copy of a packet that was seen already",
                "with cause capture: mirror one direction only, or remove copies (editcap -d)"},
    VerdictInfo{bad_icrc, "bad_icrc", immediate, error, "its ICRC is wrong: the receiver drops it",
                "look for a bad cable, port or switch; roce-analyze decode --explain says what was changed"},
    VerdictInfo{ce_mark, "ce_mark", immediate, note, "a switch marked it: congestion experienced",
                "a queue was above its marking threshold"},
    VerdictInfo{cnp, "cnp", immediate, note, "a congestion notification", "the requester should slow down"},
    VerdictInfo{new_connection, "new_connection", immediate, note, "another connection reuses its QP numbers", ""},
    VerdictInfo{sent_while_paused, "sent_while_paused", immediate, warning,
                "it was seen on its way to a station that had paused its priority",
                "its sender ignores PFC for this priority: compare the PFC settings of both ends of the link"},
    VerdictInfo{rule_broken, "rule_broken", immediate, error, "its sender breaks a rule of the protocol",
                "its firmware or driver is at fault, not the network: compare versions and report it to the vendor"},
    VerdictInfo{cm_repeated, "cm_repeated", immediate, warning, "its sender sends this CM message again",
                "it or its answer was lost, or the peer took too long: look for losses between the two hosts"},
    VerdictInfo{setup_delayed, "setup_delayed", immediate, warning,
                "the connection is set up, but CM messages had to be repeated",
                "the time went into CM timeouts: look for what lost the messages that were sent again"},
    VerdictInfo{response_gap, "response_gap", immediate, note, "the READ responses before it were not seen",
                "a later verdict says what became of them"},
    VerdictInfo{response_out_of_order, "response_out_of_order", immediate, note, "it was overtaken by later responses",
                "adaptive routing or packet spraying towards the requester"},
    VerdictInfo{response_repeated, "response_repeated", immediate, note, "the responder answers again",
                "the requester asked for it again"},
    VerdictInfo{nak_sequence_error, "nak_sequence_error", immediate, warning,
                "the responder is missing a request: it received a later PSN",
                "packets are lost or overtaken on the way to it"},
    VerdictInfo{nak_invalid_request, "nak_invalid_request", immediate, error,
                "the responder refuses the request as invalid",
                "the QP goes to ERR; check access flags, message lengths and the peer's firmware"},
    VerdictInfo{nak_remote_access_error, "nak_remote_access_error", immediate, error,
                "the responder refuses the access: key, range or right",
                "the QP goes to ERR; check R_Key, address and access flags"},
    VerdictInfo{nak_remote_operational_error, "nak_remote_operational_error", immediate, error,
                "the responder could not carry it out",
                "the QP goes to ERR; look at the responder's receive buffers and log"},
    VerdictInfo{nak_invalid_rd_request, "nak_invalid_rd_request", immediate, error,
                "the responder refuses a reliable datagram", ""},
    VerdictInfo{rnr_nak, "rnr_nak", immediate, warning, "the responder had no receive posted",
                "the application on the responder posts receives too late; post more of them, or use an SRQ"},
    VerdictInfo{credit_stall, "credit_stall", immediate, warning, "the requester was out of credits; this grants more",
                "the application on the responder posts receives too late or too few"},
    VerdictInfo{duplicate_ack, "duplicate_ack", immediate, note, "it acknowledges the same PSN as the one before", ""},
    VerdictInfo{ghost_ack, "ghost_ack", immediate, note, "it acknowledges less than one before it", ""},
    VerdictInfo{ack_of_unseen, "ack_of_unseen", immediate, note, "it answers requests that the capture does not have",
                "the capture is incomplete"},
    VerdictInfo{implied_nak, "implied_nak", immediate, warning, "it passes a READ or atomic whose answer was not seen",
                "the requester has to ask for that answer again"},
    VerdictInfo{request_lost_after, "request_lost_after", retrospective, error,
                "it passed here and did not arrive at the responder before later requests: lost, or overtaken",
                "look between the capture point and the responder"},
    VerdictInfo{request_late_after, "request_late_after", retrospective, warning,
                "it passed here and arrived at the responder after its successors",
                "look for several paths between the capture point and the responder"},
    VerdictInfo{response_lost_after, "response_lost_after", retrospective, error,
                "it passed here and did not arrive at the requester",
                "look between the capture point and the requester"},
    VerdictInfo{response_not_in_time, "response_not_in_time", retrospective, warning,
                "it passed here and did not arrive at the requester before later responses: lost, or overtaken",
                "look between the capture point and the requester"},
    VerdictInfo{lost_beyond, "lost_beyond", retrospective, error,
                "it, or its answer, was lost on the responder's side of the capture point",
                "look between the capture point and the responder, both ways; is the responder alive?"},
    VerdictInfo{no_answer, "no_answer", retrospective, error, "it was sent for the last time and never answered",
                "the connection is dead: responder gone, its QP in ERR or destroyed, or the path broken"},
    VerdictInfo{never_ready, "never_ready", retrospective, error, "an RNR NAK refused it, and it was not sent again",
                "the RNR retries are used up: the application on the responder posted no receive in all that time"},
    VerdictInfo{request_lost_before, "request_lost_before", retrospective, error,
                "requests were lost between the requester and the capture point",
                "look between the requester and the capture point"},
    VerdictInfo{response_lost_before, "response_lost_before", retrospective, error,
                "the answer was lost between the responder and the capture point",
                "look between the responder and the capture point"},
    VerdictInfo{lost_for_good, "lost_for_good", retrospective, warning,
                "requests of an unreliable connection are missing, and nobody repeats them",
                "look between the requester and the capture point, unless the capture itself drops packets"},
    VerdictInfo{missed_by_capture, "missed_by_capture", retrospective, note,
                "packets that arrived are not in the capture", "the capture dropped them; the network did not"},
    VerdictInfo{reordered, "reordered", retrospective, note, "the missing packets came later; nothing was lost", ""},
    VerdictInfo{unexplained, "unexplained", retrospective, note,
                "the capture does not show what became of the missing packets", ""},
};

[[nodiscard]] constexpr bool in_order() {
  for (std::size_t i = 0; i < kInfos.size(); ++i) {
    if (static_cast<std::size_t>(kInfos[i].kind) != i) return false;
  }
  return kInfos.size() == static_cast<std::size_t>(VerdictKind::count);
}
static_assert(in_order());

}  // namespace

const VerdictInfo& verdict_info(VerdictKind kind) {
  return kInfos[static_cast<std::size_t>(kind)];
}

std::span<const VerdictInfo> verdict_infos() {
  return kInfos;
}

std::optional<VerdictKind> verdict_from_name(std::string_view name) {
  const auto* const found =
      std::find_if(kInfos.begin(), kInfos.end(), [&](const VerdictInfo& info) { return info.name == name; });
  if (found == kInfos.end()) return std::nullopt;
  return found->kind;
}

VerdictKind verdict_of(Rule rule) {
  return rule == Rule::pause ? sent_while_paused : rule_broken;
}

std::string_view to_string(Cause cause) {
  constexpr std::array<std::string_view, 9> names{"",        "unknown", "nak",     "rnr",      "implied_nak",
                                                  "timeout", "network", "capture", "corrupted"};
  return names[static_cast<std::size_t>(cause)];
}

std::string_view cm_message_name(MadAttribute message) {
  const auto* const found =
      std::ranges::find(kMadAttributeNames, static_cast<std::uint64_t>(message), &ValueName::value);
  return found == kMadAttributeNames.end() ? std::string_view{} : found->name;
}

std::string_view to_string(Unanswered how) {
  constexpr std::array<std::string_view, 4> names{"sent_once", "silence", "not_ready", "answers_lost"};
  return names[static_cast<std::size_t>(how)];
}

std::string_view to_string(MessageType type) {
  constexpr std::array<std::string_view, kMessageTypes> names{"SEND",   "WRITE",        "READ",
                                                              "ATOMIC", "ATOMIC_WRITE", "FLUSH"};
  return names[static_cast<std::size_t>(type)];
}

std::string_view to_string(MessageEnd end) {
  constexpr std::array<std::string_view, 5> names{"open", "acknowledged", "refused", "sent", "incomplete"};
  return names[static_cast<std::size_t>(end)];
}

}  // namespace roce::analysis
