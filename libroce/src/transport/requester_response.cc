// SPDX-License-Identifier: BSD-2-Clause
// The requester's receiving side: ACKs, NAKs, READ and atomic responses, retries (IBTA vol. 1, 9.7.5, 9.7.7, 9.9.2).
#include <algorithm>

#include "roce/wire/atomiceth.h"
#include "transport/completion.h"
#include "transport/device_state.h"
#include "transport/faults.h"
#include "transport/flush.h"
#include "transport/scheduler.h"

namespace roce::transport::detail {

namespace {

constexpr std::uint8_t kInfiniteRetries = 7;

/// Notes that `una` moved: refills both retry counters (RC-REQ-17) and restarts the ACK timer.
void on_progress(Qp& qp, Time now) {
  Requester& req = qp.req;
  if (!fault(Fault::retry_no_refill)) req.retries_left = qp.attributes.retry_count;
  req.rnr_left = qp.attributes.rnr_retry;
  req.recovering = false;
  if (req.recovery != nullptr) note_progress(qp, now);
  const Duration timeout = req.recovery == nullptr ? qp.timeout : ack_timeout(qp);
  req.timeout_at = req.outstanding() && timeout.count() != 0 ? now + timeout : kNever;
  if (qp.pacer != nullptr) qp.pacer->on_progress(req.una, req.sent_end, now);
}

/// Skips the packets that were acknowledged when `una` moved, so that they are not sent again.
void skip_acknowledged(Qp& qp) {
  Requester& req = qp.req;
  if (req.next == req.fresh) return;
  const SendWqe& wqe = req.wqe(req.next);
  if (wqe.psn_count != 0 && req.una.newer_than(wqe.first_psn + req.next_packet)) seek_una(qp);
}

/// Completes SENDs and WRITEs up to and including `psn`, in order, stopping at the first request that needs a response
/// of its own. Returns true if `una` moved (RC-REQ-10).
bool acknowledge(DeviceState& device, Qp& qp, Psn psn) {
  Requester& req = qp.req;
  bool moved = false;
  while (req.head != req.fresh) {
    SendWqe& wqe = req.wqe(req.head);
    if (wqe.psn_count == 0) {
      if (!wqe.done || wqe.status != CompletionStatus::success) break;
      complete_send(device, qp, CompletionStatus::success);
      continue;
    }
    if (wqe.done || (wqe.needs_response() && !fault(Fault::ack_completes_read)) || wqe.first_psn.newer_than(psn)) break;
    moved = moved || !req.una.newer_than(psn);
    if (wqe.last_psn().newer_than(psn)) {
      req.una = psn + 1;
      break;
    }
    req.una = wqe.last_psn() + 1;
    complete_send(device, qp, CompletionStatus::success);
  }
  return moved;
}

// RC-REQ-09 (credits limit the requests that take a receive; syndrome 0x1F lifts the limit)
void take_credits(const DeviceState& device, Requester& req, const Aeth& aeth) {
  if (aeth.syndrome.kind() != AethKind::ack || !device.profile().honour_credits) return;
  const std::optional<std::uint16_t> credits = aeth.syndrome.credits();
  req.credit_limited = credits.has_value();
  if (credits) req.credit_limit = aeth.msn + *credits;
}

/// Begins to send again what was lost, which may cost a retry. The QP goes to ERR if it does and none is left.
void begin_to_send_again(DeviceState& device, Qp& qp, congestion::Loss loss, Time now) {
  Requester& req = qp.req;
  if (qp.pacer != nullptr) qp.pacer->on_loss(loss, now);
  const bool infinite = qp.attributes.retry_count == kInfiniteRetries && device.profile().retry_count_7_is_infinite;
  const bool costs = costs_retry(qp, loss, now);
  if (!infinite && costs) {
    // RC-REQ-16 (each restart costs one of retry_count)
    if (req.retries_left == 0) {
      ++qp.counters.retries_exceeded;
      fail_request(device, qp, req.head, CompletionStatus::retry_exceeded, 0);
      return;
    }
    if (fault(Fault::retry_one_more) && !req.recovering) ++req.retries_left;
    --req.retries_left;
  }
  req.recovering = true;
  req.timeout_at = qp.timeout.count() != 0 ? now + ack_timeout(qp) : kNever;
  make_ready(device, qp);
}

/// Goes back because an answer to `psn` shows that a response was lost, but only once until there is progress
/// (RC-REQ-11). If what comes behind a gap is held, only the request without an answer goes again.
void on_implied_nak(DeviceState& device, Qp& qp, Psn psn, Time now) {
  if (fault(Fault::implied_nak_ignored)) return;
  const bool comes_again = qp.req.recovering || goes_alone(qp);
  if (qp.req.rnr_until != kNever || (comes_again && !is_answer_lost_again(qp, psn))) return;
  ++qp.counters.implied_naks;
  if (requests_alone(qp)) return begin_to_send_again(device, qp, congestion::Loss::implied_nak, now);
  go_back(device, qp, congestion::Loss::implied_nak, now);
}

void on_rnr_nak(DeviceState& device, Qp& qp, const Aeth& aeth, Time now) {
  Requester& req = qp.req;
  // RC-REQ-20 (other NAKs change nothing during the RNR wait), a copy of the same NAK included.
  if (req.rnr_until != kNever) return;
  ++qp.counters.rnr_naks_received;
  // RC-REQ-19 (each RNR NAK costs one of rnr_retry; 7 is endless)
  if (qp.attributes.rnr_retry != kInfiniteRetries) {
    if (req.rnr_left == 0) {
      ++qp.counters.rnr_retries_exceeded;
      fail_request(device, qp, req.head, CompletionStatus::rnr_retry_exceeded, aeth.syndrome.value());
      return;
    }
    --req.rnr_left;
  }
  if (fault(Fault::rnr_counts_retry) && req.retries_left-- == 0) {
    return fail_request(device, qp, req.head, CompletionStatus::retry_exceeded, 0);
  }
  // RC-REQ-18 (the request waits at least as long as the timer code asks)
  Duration wait = std::max<Duration>(*aeth.syndrome.rnr_timer(), device.profile().min_rnr_wait);
  if (fault(Fault::rnr_wait_short)) wait /= 2;
  req.rnr_until = now + wait;
  req.timeout_at = kNever;
  req.recovering = false;
  if (qp.pacer != nullptr) qp.pacer->forget_sample();
  if (req.recovery != nullptr) req.recovery->stop();
  seek_una(qp);
  arm_timer(device, qp);
}

void on_nak(DeviceState& device, Qp& qp, Psn psn, const Aeth& aeth, Time now) {
  Requester& req = qp.req;
  if (aeth.syndrome.code() == static_cast<std::uint8_t>(NakCode::psn_sequence_error)) {
    if (fault(Fault::n60_ignored)) return;
    if (fault(Fault::rnr_wait_cut)) req.rnr_until = kNever;
    if (fault(Fault::n60_restarts_each)) req.recovering = false;
    // RC-REQ-14 (a sequence NAK restarts at the oldest unacknowledged PSN; more of them count only after progress)
    const bool is_known = req.recovering && !is_lost_again(qp, now) && !goes_alone_before(qp, psn);
    if (is_known || req.rnr_until != kNever) return;
    if (fault(Fault::n60_is_free)) ++req.retries_left;
    ++qp.counters.sequence_naks_received;
    note_nak(qp, psn);
    if (sends_alone(qp, psn)) return begin_to_send_again(device, qp, congestion::Loss::nak, now);
    go_back(device, qp, congestion::Loss::nak, now);
    return;
  }
  // RC-REQ-25 (NAK 0x61, 0x62, 0x63 and unknown codes end the request)
  CompletionStatus status = CompletionStatus::remote_operation_error;
  switch (aeth.syndrome.nak_code().value_or(NakCode::remote_operational_error)) {
    case NakCode::invalid_request:
      ++qp.counters.remote_invalid_requests;
      status = CompletionStatus::remote_invalid_request;
      break;
    case NakCode::remote_access_error:
      ++qp.counters.remote_access_errors;
      status = CompletionStatus::remote_access_error;
      break;
    default:
      ++qp.counters.remote_operation_errors;
      break;
  }
  if (fault(Fault::nak_wrong_status)) status = CompletionStatus::remote_operation_error;
  if (fault(Fault::nak_unknown_success) && aeth.syndrome.code() > 3) status = CompletionStatus::success;
  std::uint32_t index = req.head;
  if (fault(Fault::nak_fails_head)) psn = req.wqe(req.head).first_psn;
  for (; index + 1 != req.fresh; ++index) {
    const SendWqe& wqe = req.wqe(index);
    if (wqe.psn_count != 0 && !psn.newer_than(wqe.last_psn())) break;
  }
  fail_request(device, qp, index, status, aeth.syndrome.value());
}

void on_acknowledge(DeviceState& device, Qp& qp, Psn psn, const Aeth& aeth, Time now) {
  Requester& req = qp.req;
  if (fault(Fault::reserved_is_ack) && aeth.syndrome.kind() == AethKind::reserved) {
    return on_acknowledge(device, qp, psn, Aeth{AethSyndrome::ack(), aeth.msn}, now);
  }
  switch (aeth.syndrome.kind()) {
    case AethKind::ack: {
      const bool moved = acknowledge(device, qp, psn);
      take_credits(device, req, aeth);
      if (moved) on_progress(qp, now);
      const SendWqe* wqe = req.oldest();
      // This ACK covers a READ or atomic whose own response has not come.
      if (wqe != nullptr && wqe->needs_response() && !wqe->first_psn.newer_than(psn)) {
        hold_acknowledgement(qp, psn);
        on_implied_nak(device, qp, psn, now);
      }
      break;
    }
    case AethKind::rnr_nak:
    case AethKind::nak:
      if (fault(Fault::nak_fails_head) && aeth.syndrome.kind() == AethKind::nak)
        return on_nak(device, qp, psn, aeth, now);
      // RC-REQ-13 (a NAK and an RNR NAK acknowledge everything before their PSN)
      if (acknowledge(device, qp, psn - 1)) on_progress(qp, now);
      if (aeth.syndrome.kind() == AethKind::nak) {
        on_nak(device, qp, psn, aeth, now);
      } else {
        on_rnr_nak(device, qp, aeth, now);
      }
      break;
    case AethKind::reserved:
      // RC-REQ-29 (a reserved AETH syndrome is ignored)
      break;
  }
}

/// Takes the part of a READ that a response carries. Its place follows from the PSN alone (RC-REQ-21).
[[nodiscard]] CompletionStatus take_read_response(DeviceState& device, Qp& qp, const SendWqe& wqe,
                                                  const Packet& packet) {
  auto index = static_cast<std::uint32_t>(packet.bth().psn.distance_from(wqe.first_psn));
  if (fault(Fault::read_placed_by_arrival) && packet.info().position == Position::first) index = 0;
  const std::uint64_t offset = std::uint64_t{index} * qp.mtu;
  std::uint64_t expected = std::min<std::uint64_t>(wqe.length - offset, qp.mtu);
  if (fault(Fault::read_short_ok)) expected = std::min<std::uint64_t>(expected, packet.payload_length());
  if (fault(Fault::read_overrun)) expected = std::max<std::uint64_t>(expected, packet.payload_length());
  const bool last = index + 1 == wqe.psn_count;
  if (packet.payload_length() != expected || packet.info().ends_message() != last) {
    return CompletionStatus::local_length_error;
  }
  const Scattered result = device.memory.scatter(qp.pd, qp.memory_of(wqe), offset, packet.payload());
  return result == Scattered::done ? CompletionStatus::success : CompletionStatus::local_protection_error;
}

[[nodiscard]] CompletionStatus take_response(DeviceState& device, Qp& qp, const SendWqe& wqe, const Packet& packet) {
  // RC-REQ-26 (a response of the wrong kind ends the request)
  const CompletionStatus wrong = device.profile().bad_response_status;
  const bool is_atomic = wqe.opcode == WorkOpcode::compare_swap || wqe.opcode == WorkOpcode::fetch_add;
  const std::optional<Aeth> aeth = packet.get<Aeth>();
  if (aeth && aeth->syndrome.kind() != AethKind::ack && !fault(Fault::read_nak_is_ack)) return wrong;
  const bool is_wrong = is_atomic != (packet.info().operation == Operation::atomic_acknowledge);
  if (fault(Fault::kind_ignored) && is_wrong) return CompletionStatus::success;
  if (is_wrong) return wrong;
  if (is_atomic) {
    const std::uint64_t original = packet.get<AtomicAckEth>()->original;
    const Scattered result = device.memory.scatter(qp.pd, qp.memory_of(wqe), 0, std::as_bytes(std::span{&original, 1}));
    return result == Scattered::done ? CompletionStatus::success : CompletionStatus::local_protection_error;
  }
  if (wqe.opcode == WorkOpcode::read) return take_read_response(device, qp, wqe, packet);
  if (packet.info().position != Position::only) return wrong;
  return packet.payload_length() == 0 ? CompletionStatus::success : CompletionStatus::local_length_error;
}

/// Takes a response that is not to the oldest PSN without an answer.
void on_response_behind_gap(DeviceState& device, Qp& qp, const Packet& packet, Psn psn, bool restarts, Time now) {
  if (holds_answers(qp)) {
    if (const std::optional<Aeth> aeth = packet.get<Aeth>()) take_credits(device, qp.req, *aeth);
    hold_response(qp, packet, psn, now);
  }
  if (restarts || holds_answers(qp)) on_implied_nak(device, qp, psn, now);
}

/// Takes a response, once everything before its PSN that an ACK can acknowledge is.
// Inline, or each response would pay for the second caller, which takes those that were held.
[[gnu::always_inline]] inline void take_answer(DeviceState& device, Qp& qp, const Packet& packet, Psn psn, Time now) {
  Requester& req = qp.req;
  SendWqe* wqe = req.oldest();
  if (wqe == nullptr || wqe->done) return;
  if (!wqe->needs_response()) {
    if (fault(Fault::kind_ignored) && acknowledge(device, qp, psn)) return on_progress(qp, now);
    // A SEND or WRITE gets an ACK, never a READ or atomic response.
    fail_request(device, qp, req.head, device.profile().bad_response_status, 0);
    return;
  }
  if (psn != req.una) {
    // RC-REQ-23 (a gap in READ responses restarts it at once, or after the timeout, by profile)
    const bool restarts = psn.newer_than(wqe->last_psn()) || device.profile().read_gap_restarts;
    return on_response_behind_gap(device, qp, packet, psn, restarts, now);
  }
  const CompletionStatus status = take_response(device, qp, *wqe, packet);
  if (status != CompletionStatus::success) {
    std::uint32_t index = req.head;
    while (&req.wqe(index) != wqe) ++index;
    fail_request(device, qp, index, status, 0);
    return;
  }
  req.una = psn + 1;
  if (psn == wqe->last_psn()) wqe->done = true;
  on_progress(qp, now);
}

/// Takes the answers that waited for the one just taken, in order, and requests what is missing next.
void take_held_answers(DeviceState& device, Qp& qp, Time now) {
  const Requester& req = qp.req;
  Psn before = req.una;
  do {
    before = req.una;
    retire(device, qp);
    if (qp.state == QpState::err) return;
    const std::optional<Psn> acknowledged = held_acknowledgement(qp);
    if (acknowledged && acknowledge(device, qp, *acknowledged)) on_progress(qp, now);
    const Bytes bytes = held_response(qp);
    if (!bytes.empty()) take_answer(device, qp, parse_transport(bytes, qp.path.net), req.una, now);
  } while (req.una != before && qp.state != QpState::err);
  if (qp.state != QpState::err && shows_gap(qp) && !goes_alone(qp)) on_implied_nak(device, qp, req.una, now);
}

void on_read_or_atomic_response(DeviceState& device, Qp& qp, const Packet& packet, Psn psn, Time now) {
  Requester& req = qp.req;
  if (acknowledge(device, qp, psn - 1)) on_progress(qp, now);
  const bool is_next = psn == req.una;
  if (req.recovery != nullptr) note_response(qp, psn);
  take_answer(device, qp, packet, psn, now);
  if (!is_next || req.una == psn || qp.state == QpState::err) return;
  if (const std::optional<Aeth> aeth = packet.get<Aeth>()) take_credits(device, req, *aeth);
  if (req.recovery != nullptr && holds_answers(qp)) take_held_answers(device, qp, now);
}

}  // namespace

void seek_una(Qp& qp) {
  Requester& req = qp.req;
  req.rd_outstanding = 0;
  req.next_packet = 0;
  for (req.next = req.head; req.next != req.fresh; ++req.next) {
    const SendWqe& wqe = req.wqe(req.next);
    if (wqe.psn_count != 0 && req.una.distance_from(wqe.last_psn()) <= 0) {
      // RC-REQ-24 (a message acknowledged in part goes again from its first packet that is not)
      const std::int32_t sent = req.una.distance_from(wqe.first_psn);
      req.next_packet = static_cast<std::uint32_t>(std::max(sent, 0));
      return;
    }
    if (wqe.is_rd_atomic()) ++req.rd_outstanding;
  }
}

void go_back(DeviceState& device, Qp& qp, congestion::Loss loss, Time now) {
  Requester& req = qp.req;
  note_going_back(device, qp, loss);
  begin_to_send_again(device, qp, loss, now);
  if (qp.state == QpState::err) return;
  seek_una(qp);
  if (fault(Fault::go_back_skips) && req.next + 1 != req.fresh) {
    ++req.next;
    req.next_packet = 0;
  }
}

// RC-REQ-28 (requests complete in order: those before a failed one first, those after it as flushed)
void fail_request(DeviceState& device, Qp& qp, std::uint32_t index, CompletionStatus status, std::uint8_t syndrome) {
  Requester& req = qp.req;
  // A local request that is done is still flushed if a request before it is not done.
  bool flushing = false;
  while (req.head != index) {
    const SendWqe& wqe = req.wqe(req.head);
    flushing = flushing || !wqe.done;
    complete_send(device, qp, flushing ? CompletionStatus::flushed : wqe.status);
  }
  complete_send(device, qp, status, syndrome);
  if (qp.is_reliable()) {
    enter_error(device, qp, false);
    return;
  }
  // Datagram and unreliable QPs stop sending and continue to receive (IBTA vol. 1, 10.3.1; QP-11).
  qp.state = QpState::sqe;
  while (req.head != req.tail) complete_send(device, qp, CompletionStatus::flushed);
  req.una = req.sent_end = req.next_psn;
}

void retire(DeviceState& device, Qp& qp) {
  Requester& req = qp.req;
  while (req.head != req.fresh && req.wqe(req.head).done) {
    const CompletionStatus status = req.wqe(req.head).status;
    if (status != CompletionStatus::success) return fail_request(device, qp, req.head, status, 0);
    complete_send(device, qp, CompletionStatus::success);
  }
  // QP-10 (SQD finishes what has begun, and makes one event if asked)
  const bool is_drained = req.head == req.fresh || fault(Fault::sqd_told_early);
  if (qp.state == QpState::sqd && !req.drain_reported && is_drained) {
    req.drain_reported = true;
    if (fault(Fault::sqd_not_told)) return;
    device.report(Event{.type = EventType::sq_drained, .qpn = qp.qpn});
  }
}

void on_response(DeviceState& device, Qp& qp, const Packet& packet, const Bth& bth, Time now) {
  Requester& req = qp.req;
  if (fault(Fault::rtr_takes_answers) && qp.state == QpState::rtr) return enter_error(device, qp, false);
  // QP-05 (responses are taken in RTS and SQD)
  if (qp.state != QpState::rts && qp.state != QpState::sqd) {
    ++qp.counters.wrong_state;
    return;
  }
  Psn psn = bth.psn;
  if (fault(Fault::ack_old_completes) && req.una.newer_than(psn)) psn = req.una;
  const std::int32_t ahead = psn.distance_from(req.una);
  // RC-REQ-12 (responses older than the oldest outstanding PSN or newer than what was sent are ignored)
  const bool in_window = ahead >= 0 && (req.sent_end.newer_than(psn) || fault(Fault::ack_future_ok));
  if (!in_window) {
    ++qp.counters.ghost_acks;
    if (fault(Fault::completes_twice) && ahead == -1) {
      push_completion(device, *qp.send_cq, {.wr_id = req.wqe(req.head - 1).wr_id, .qpn = qp.qpn}, true);
    }
    // A repeated ACK of the newest acknowledged PSN still carries credits.
    if (ahead == -1 && packet.info().operation == Operation::acknowledge) {
      take_credits(device, req, *packet.get<Aeth>());
      make_ready(device, qp);
    }
    return;
  }
  if (packet.info().operation == Operation::acknowledge) {
    on_acknowledge(device, qp, psn, *packet.get<Aeth>(), now);
  } else {
    on_read_or_atomic_response(device, qp, packet, psn, now);
  }
  if (qp.state == QpState::err) return;
  retire(device, qp);
  if (qp.state == QpState::err) return;
  skip_acknowledged(qp);
  arm_timer(device, qp);
  make_ready(device, qp);
}

void on_requester_timer(DeviceState& device, Qp& qp, Time now) {
  Requester& req = qp.req;
  if (req.rnr_until <= now) {
    req.rnr_until = kNever;
    make_ready(device, qp);
  }
  // RC-REQ-15 (a message that its rate holds back does not time out)
  const bool holds_message_back = req.next_packet != 0 && qp.pacer != nullptr && qp.pacer->may_send_at() > now;
  if (req.timeout_at <= now && holds_message_back) {
    // The packet that asks for the ACK has not been sent yet.
    req.timeout_at = qp.pacer->may_send_at() + ack_timeout(qp);
  }
  if (req.recovery != nullptr) on_probe_timer(device, qp, now);
  if (req.timeout_at <= now) {
    req.timeout_at = kNever;
    // The retransmission after the RNR wait sets the timer again.
    if (!req.outstanding() || req.rnr_until != kNever) return;
    ++qp.counters.timeouts;
    go_back(device, qp, congestion::Loss::timeout, now);
  }
}

}  // namespace roce::transport::detail
