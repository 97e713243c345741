// SPDX-License-Identifier: BSD-2-Clause
// Gaps in the responses to an RC requester's READs and atomics: what becomes of the answers behind them, and which
// request goes again (LossRecovery::held_responses).
#include "transport/requester_gap.h"

#include "transport/device_state.h"

namespace roce::transport::detail {

namespace {

[[nodiscard]] ResponseGap* gap_of(const Qp& qp) {
  return qp.req.recovery == nullptr ? nullptr : qp.req.recovery->gap.get();
}

/// True if all that was sent goes again: what is still to come of the first time says nothing.
[[nodiscard]] bool all_comes_again(const Qp& qp) {
  return (qp.req.recovering && !goes_alone(qp)) || qp.req.rnr_until != kNever;
}

void take_newer(std::optional<Psn>& newest, Psn psn) {
  if (!newest || psn.newer_than(*newest)) newest = psn;
}

}  // namespace

bool holds_answers(const Qp& qp) {
  return gap_of(qp) != nullptr;
}

void note_response(Qp& qp, Psn psn) {
  ResponseGap* const gap = gap_of(qp);
  if (gap == nullptr) return;
  gap->is_answered = gap->is_answered || !psn.newer_than(gap->last);
  gap->last = psn;
}

void hold_response(Qp& qp, const Packet& packet, Psn psn, Time now) {
  ResponseGap* const gap = gap_of(qp);
  if (gap == nullptr) return;
  const auto ahead = static_cast<std::uint64_t>(psn.distance_from(qp.req.una));
  const bool is_new = gap->held.keep(gap->position + ahead, ahead, packet);
  // A response acknowledges everything before it.
  hold_acknowledgement(qp, psn - 1);
  if (!all_comes_again(qp)) take_newer(gap->newest, psn);
  // The peer is there, and busy.
  set_probe(qp, now);
  if (is_new && qp.req.timeout_at != kNever) qp.req.timeout_at = now + ack_timeout(qp);
}

void hold_acknowledgement(Qp& qp, Psn psn) {
  ResponseGap* const gap = gap_of(qp);
  if (gap != nullptr && !all_comes_again(qp)) take_newer(gap->acknowledged, psn);
}

Bytes held_response(const Qp& qp) {
  const ResponseGap* const gap = gap_of(qp);
  return gap == nullptr ? Bytes{} : gap->held.at(gap->position);
}

std::optional<Psn> held_acknowledgement(const Qp& qp) {
  const ResponseGap* const gap = gap_of(qp);
  return gap == nullptr ? std::nullopt : gap->acknowledged;
}

void close_response_gap(Qp& qp, std::uint32_t psns) {
  ResponseGap* const gap = gap_of(qp);
  if (gap == nullptr) return;
  gap->position += psns;
  for (std::optional<Psn>* const behind : {&gap->newest, &gap->acknowledged}) {
    if (*behind && qp.req.una.newer_than(**behind)) behind->reset();
  }
  if (gap->alone_end && !gap->alone_end->newer_than(qp.req.una)) gap->alone_end.reset();
}

bool goes_alone(const Qp& qp) {
  const ResponseGap* const gap = gap_of(qp);
  return gap != nullptr && gap->alone_end.has_value();
}

bool goes_alone_before(const Qp& qp, Psn psn) {
  return goes_alone(qp) && !gap_of(qp)->alone_end->newer_than(psn);
}

bool is_answer_lost_again(const Qp& qp, Psn psn) {
  const ResponseGap* const gap = gap_of(qp);
  if (gap == nullptr || !gap->alone_end) return false;
  return (gap->is_answered && gap->alone_end->newer_than(psn)) || !gap->alone_at.newer_than(psn);
}

bool shows_gap(const Qp& qp) {
  const ResponseGap* const gap = gap_of(qp);
  return gap != nullptr && (gap->newest || gap->acknowledged);
}

void await_alone(Qp& qp) {
  ResponseGap* const gap = gap_of(qp);
  const SendWqe* const oldest = qp.req.oldest();
  if (gap == nullptr || oldest == nullptr || !oldest->needs_response()) return;
  // Responses come in order, those of the second time as well.
  if (!gap->alone_end) gap->last = gap->newest.value_or(qp.req.sent_end - 1);
  gap->is_answered = false;
  gap->alone_end = oldest->last_psn() + 1;
  gap->alone_at = qp.req.sent_end;
}

void forget_alone(Qp& qp) {
  if (ResponseGap* const gap = gap_of(qp); gap != nullptr) gap->alone_end.reset();
}

bool requests_alone(Qp& qp) {
  const ResponseGap* const gap = gap_of(qp);
  // Where more came than is held, all of it has to come again.
  if (gap == nullptr || (gap->newest && !gap->held.reaches(gap->position))) return false;
  await_alone(qp);
  if (!gap->alone_end) return false;
  qp.req.recovery->sample.forget();
  qp.req.recovery->again = qp.req.una;
  return true;
}

}  // namespace roce::transport::detail
