// SPDX-License-Identifier: BSD-2-Clause
// The responder's receiving side for RC: PSNs, gaps and duplicates, refusals, when to acknowledge (IBTA vol. 1, 9.7.5).
#include "transport/completion.h"
#include "transport/faults.h"
#include "transport/flush.h"
#include "transport/receive.h"
#include "transport/receive_queue.h"
#include "transport/responder_execute.h"
#include "transport/responder_gap.h"
#include "transport/scheduler.h"

namespace roce::transport::detail {

namespace {

/// Stops the responder: the receive in use ends with `status`, and the QP goes to ERR.
void stop(DeviceState& device, Qp& qp, CompletionStatus status, EventType event) {
  if (qp.resp.has_receive) {
    Completion completion{};
    completion.wr_id = qp.resp.receive.wr_id;
    completion.status = status == CompletionStatus::success ? CompletionStatus::flushed : status;
    completion.opcode = CompletionOpcode::receive;
    completion.qpn = qp.qpn;
    complete_receive(device, qp, completion, true);
  }
  if (!fault(Fault::no_error_event)) device.report(Event{.type = event, .qpn = qp.qpn});
  enter_error(device, qp, true);
}

// RC-RESP-24 (NAK 0x61, 0x62 and 0x63 come without AckReq too, and the QP goes to ERR)
void refuse(DeviceState& device, Qp& qp, Psn psn, NakCode code, CompletionStatus receive_status) {
  if (fault(Fault::nak_61_for_62) && code == NakCode::remote_access_error) code = NakCode::invalid_request;
  release_ack(device, qp);
  answer(device, qp, AethSyndrome::nak(code), psn);
  if (fault(Fault::nak_no_err)) return;
  stop(device, qp, receive_status,
       code == NakCode::remote_access_error ? EventType::qp_access_error : EventType::qp_request_error);
}

/// Counts a request towards the next ACK, which may answer several requests (RC-RESP-22).
void count_towards_ack(DeviceState& device, Qp& qp, const Bth& bth, Time now) {
  Responder& resp = qp.resp;
  const Profile& profile = device.profile();
  if (fault(Fault::ack_64th_lost) && bth.psn.value() % 64 == 0) return;
  const bool is_followed = resp.gap != nullptr && !resp.gap->held.at(resp.position).empty();
  if (profile.ack_coalesce_packets <= 1 && !is_followed && resp.acks_held == 0) {
    answer(device, qp, ack_syndrome(device, qp), bth.psn);
    return;
  }
  resp.held_psn = bth.psn;
  ++resp.acks_held;
  // One ACK is for all that waited behind the gap (take_held).
  if (is_followed) return;
  if (resp.acks_held >= profile.ack_coalesce_packets || profile.ack_coalesce_delay.count() == 0) {
    release_ack(device, qp);
    return;
  }
  ++qp.counters.acks_deferred;
  if (resp.ack_due == kNever) {
    resp.ack_due = now + profile.ack_coalesce_delay;
    arm_timer(device, qp);
  }
}

/// Answers with the syndrome that the misbehaviour hook chose. True if the request must not be executed.
[[nodiscard]] bool misbehave(DeviceState& device, Qp& qp, const Packet& packet, Psn psn, Time now) {
  if (qp.misbehaviour == nullptr || qp.misbehaviour->hook == nullptr) return false;
  const std::optional<AethSyndrome> chosen = qp.misbehaviour->hook->on_request(packet, now);
  if (!chosen) return false;
  answer(device, qp, *chosen, psn);
  return true;
}

/// Takes a SEND that comes again like a new one.
void send_again(DeviceState& device, Qp& qp, const Request& request) {
  if (!take_receive(device, qp) || take_send_payload(device, qp, request.packet) != Scattered::done) return;
  if (request.info.ends_message()) complete_message(device, qp, request.packet, request.bth);
}

/// Executes a duplicate where a fault is planted. True if it needs no other answer.
[[nodiscard]] bool run_duplicate(DeviceState& device, Qp& qp, Request& request) {
  if (fault(Fault::dup_send_runs) && request.info.operation == Operation::send) send_again(device, qp, request);
  if (fault(Fault::dup_write_runs) && request.info.operation == Operation::write) {
    static_cast<void>(take_write_payload(device, qp, request.packet));
  }
  if (fault(Fault::first_restarts) && request.info.operation == Operation::send && !request.info.ends_message()) {
    qp.resp.receive_offset = 0;
  }
  if (fault(Fault::dup_atomic_runs) && request.info.operation == Operation::fetch_add) {
    return execute(device, qp, request) == Execution::done;
  }
  return false;
}

/// Executes the request that is next by its PSN, and answers it.
// Inline, or each packet would pay for the second caller, which takes those that were held.
[[gnu::always_inline]] inline void take_expected(DeviceState& device, Qp& qp, const Packet& packet, const Bth& bth,
                                                 Time now) {
  Responder& resp = qp.resp;
  Request request{packet, bth, packet.info(), {}};
  const Execution execution = execute(device, qp, request);
  // RC-RESP-02 (one NAK per gap): a request dropped for lack of room counts as lost, so the gap is still the same.
  if (execution != Execution::dropped) {
    if (!fault(Fault::gap_latch_stays)) resp.nak_latched = false;
    if (resp.gap != nullptr) resp.gap->close();
  }
  switch (execution) {
    case Execution::done:
      resp.advance(1);
      if (request.info.operation != Operation::read_request) resp.last_non_read_psn = bth.psn;
      if (request.info.operation == Operation::send || request.info.operation == Operation::write) {
        if (fault(Fault::middle_ack_missing) && !request.info.ends_message()) return;
        if (bth.ack_req) count_towards_ack(device, qp, bth, now);
      }
      return;
    case Execution::not_ready:
      // RC-RESP-07 (without a receive: an RNR NAK, and the expected PSN stays)
      ++qp.counters.out_of_buffer;
      release_ack(device, qp);
      answer(device, qp, AethSyndrome::rnr_nak(fault(Fault::rnr_code_0) ? 0 : qp.attributes.min_rnr_timer), bth.psn);
      if (fault(Fault::rnr_moves_psn)) resp.advance(1);
      if (fault(Fault::rnr_opens)) resp.open = Responder::Open::send;
      // RC-RESP-03 (requests after an RNR NAK are dropped in silence, or NAKed once as a gap, by profile)
      resp.nak_latched = !device.profile().nak_behind_rnr;
      return;
    case Execution::refused:
      if (fault(Fault::nak_needs_a) && !bth.ack_req) return;
      if (fault(Fault::access_first) && names_wrong_key(device, qp, packet)) {
        request.refusal.code = NakCode::remote_access_error;
      }
      refuse(device, qp, bth.psn, request.refusal.code, request.refusal.receive_status);
      return;
    case Execution::failed:
      release_ack(device, qp);
      stop(device, qp, request.refusal.receive_status, EventType::qp_request_error);
      return;
    case Execution::dropped:
      return;
  }
}

}  // namespace

void on_request(DeviceState& device, Qp& qp, const Packet& packet, const Bth& bth, Time now) {
  Responder& resp = qp.resp;
  // QP-05 (requests are taken from RTR on)
  if (!qp.may_receive()) {
    ++qp.counters.wrong_state;
    return;
  }
  note_established(device, qp);
  if (misbehave(device, qp, packet, bth.psn, now)) return;
  // RC-RESP-01 (the expected PSN is executed, an older one is a duplicate, a newer one is a gap)
  std::int32_t ahead = bth.psn.distance_from(resp.e_psn);
  if (fault(Fault::psn_no_wrap)) ahead = static_cast<std::int32_t>(bth.psn.value() - resp.e_psn.value());
  if (fault(Fault::psn_window_2_22) && ahead > 1 << 22) ahead -= 1 << 24;
  if (fault(Fault::psn_ahead_one_ok) && ahead == 1) ahead = 0;
  if (ahead > 0) return on_gap(device, qp, packet, bth, now);
  Request request{packet, bth, packet.info(), {}};
  if (fault(Fault::dup_judged) && ahead < 0 && execute(device, qp, request) == Execution::refused) ahead = 0;
  if (ahead < 0 && run_duplicate(device, qp, request)) return;
  if (ahead < 0) return on_duplicate(device, qp, packet, bth);
  const std::uint64_t before = resp.position;
  take_expected(device, qp, packet, bth, now);
  if (resp.gap != nullptr && resp.position != before) take_held(device, qp, now);
}

void take_in_turn(DeviceState& device, Qp& qp, const Packet& packet, const Bth& bth, Time now) {
  take_expected(device, qp, packet, bth, now);
}

}  // namespace roce::transport::detail
