// SPDX-License-Identifier: BSD-2-Clause
// The receiving half of UC: a lost packet costs its message and nothing more (IBTA vol. 1, 9.8.2).
#include "transport/completion.h"
#include "transport/device_state.h"
#include "transport/faults.h"
#include "transport/receive.h"
#include "transport/receive_queue.h"

namespace roce::transport::detail {

namespace {

/// Gives up the open message. Its receive is used for the next message; one from an SRQ cannot wait and ends with an
/// error (UC-03).
void abandon(DeviceState& device, Qp& qp) {
  Responder& resp = qp.resp;
  resp.open = Responder::Open::nothing;
  if (!resp.has_receive || qp.srq == nullptr) return;
  if (fault(Fault::uc_srq_receive_lost)) resp.has_receive = false;
  if (fault(Fault::uc_srq_receive_lost)) return;
  Completion completion{};
  completion.wr_id = resp.receive.wr_id;
  completion.status = CompletionStatus::remote_invalid_request;
  completion.opcode = CompletionOpcode::receive;
  completion.qpn = qp.qpn;
  complete_receive(device, qp, completion, true);
}

/// Takes a receive, or counts that there is none.
[[nodiscard]] bool find_receive(DeviceState& device, Qp& qp) {
  if (take_receive(device, qp)) return true;
  ++qp.counters.out_of_buffer;
  return false;
}

/// Takes one packet of a SEND; false if the message is lost.
[[nodiscard]] bool take_send(DeviceState& device, Qp& qp, const Packet& packet) {
  bool needs_receive = packet.info().begins_message();
  if (fault(Fault::uc_middle_starts)) needs_receive = true;
  if (needs_receive && !find_receive(device, qp)) return false;
  if (take_send_payload(device, qp, packet) == Scattered::done) return true;
  ++qp.counters.local_length_errors;
  return false;
}

/// Takes one packet of a WRITE; false if the message is lost.
[[nodiscard]] bool take_write(DeviceState& device, Qp& qp, const Packet& packet) {
  if (!allows(qp.access, Access::remote_write) && !fault(Fault::uc_key_ignored)) return false;
  if (packet.info().immediate && !find_receive(device, qp)) return false;
  return take_write_payload(device, qp, packet) == Written::done;
}

}  // namespace

void on_unreliable(DeviceState& device, Qp& qp, const Packet& packet, const Bth& bth) {
  Responder& resp = qp.resp;
  if (!qp.may_receive()) {
    ++qp.counters.wrong_state;
    return;
  }
  note_established(device, qp);
  const OpcodeInfo& info = packet.info();
  if (fault(Fault::uc_answers) && bth.ack_req) answer(device, qp, AethSyndrome::ack(), bth.psn);
  if (fault(Fault::uc_stuck) && resp.open == Responder::Open::write && info.operation != Operation::write) return;
  // UC-02 (a PSN that was not expected ends the open message; the same packet may begin the next)
  if (bth.psn != resp.e_psn && !fault(Fault::uc_joins)) {
    ++qp.counters.out_of_sequence;
    abandon(device, qp);
  }
  resp.e_psn = bth.psn + 1;
  if (info.begins_message()) {
    // The previous message has not ended, and never will.
    if (resp.open != Responder::Open::nothing) abandon(device, qp);
  } else if (!fault(Fault::uc_middle_starts)) {
    const Operation open = resp.open == Responder::Open::send ? Operation::send : Operation::write;
    if (resp.open == Responder::Open::nothing || info.operation != open) return abandon(device, qp);
  }
  const bool fits = has_fitting_payload(packet, qp.mtu);
  const bool taken =
      fits && (info.operation == Operation::send ? take_send(device, qp, packet) : take_write(device, qp, packet));
  // UC-04 (without a receive, right, key or fitting length the message is dropped in silence)
  if (!taken) return abandon(device, qp);
  if (info.ends_message()) complete_message(device, qp, packet, bth);
}

}  // namespace roce::transport::detail
