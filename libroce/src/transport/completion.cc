// SPDX-License-Identifier: BSD-2-Clause
// Completions of requests and receives, and the events of a CQ.
#include "transport/completion.h"

#include "transport/device_state.h"
#include "transport/faults.h"

namespace roce::transport::detail {

namespace {

[[nodiscard]] CompletionOpcode completion_opcode(WorkOpcode opcode) {
  switch (opcode) {
    case WorkOpcode::send:
    case WorkOpcode::send_with_immediate:
    case WorkOpcode::send_with_invalidate:
      return CompletionOpcode::send;
    case WorkOpcode::write:
    case WorkOpcode::write_with_immediate:
      return CompletionOpcode::write;
    case WorkOpcode::read:
      return CompletionOpcode::read;
    case WorkOpcode::compare_swap:
      return CompletionOpcode::compare_swap;
    case WorkOpcode::fetch_add:
      return CompletionOpcode::fetch_add;
    case WorkOpcode::atomic_write:
      return CompletionOpcode::atomic_write;
    case WorkOpcode::flush:
      return CompletionOpcode::flush;
    case WorkOpcode::local_invalidate:
      return CompletionOpcode::local_invalidate;
    case WorkOpcode::bind_mw:
      return CompletionOpcode::bind_mw;
  }
  return CompletionOpcode::send;
}

}  // namespace

void push_completion(DeviceState& device, CompletionQueue& cq, const Completion& completion, bool solicited) {
  if (cq.overflowed) return;
  // QP-14 (a completion for a full CQ makes an event, and the CQ's QPs go to ERR)
  if (cq.ring.full()) {
    if (fault(Fault::cq_overflow_silent)) return;
    cq.overflowed = true;
    device.cq_overflowed = true;
    device.report(Event{.type = EventType::cq_overflow, .cq = cq.handle});
    return;
  }
  cq.ring.push() = completion;
  // QP-13 (an armed CQ makes one event)
  const bool wakes =
      cq.armed == CompletionQueue::Armed::any ||
      (cq.armed == CompletionQueue::Armed::solicited && (solicited || completion.status != CompletionStatus::success));
  if (wakes) return tell(device, cq);
  cq.has_untold = true;
}

void tell(DeviceState& device, CompletionQueue& cq) {
  cq.armed = CompletionQueue::Armed::no;
  cq.has_untold = false;
  device.report(Event{.type = EventType::cq_ready, .cq = cq.handle});
}

void complete_send(DeviceState& device, Qp& qp, CompletionStatus status, std::uint8_t syndrome) {
  Requester& req = qp.req;
  const SendWqe& wqe = req.wqe(req.head);
  if (req.next == req.head) {
    ++req.next;
    req.next_packet = 0;
  } else if (wqe.is_rd_atomic()) {
    --req.rd_outstanding;
  }
  if (req.fresh == req.head) ++req.fresh;
  ++req.head;
  // QP-12 (an unsignaled request completes in silence, a failed one never)
  if (status == CompletionStatus::success && !wqe.signaled) return;
  Completion completion{};
  completion.wr_id = wqe.wr_id;
  completion.status = status;
  completion.opcode = completion_opcode(wqe.opcode);
  completion.syndrome = syndrome;
  completion.byte_length = wqe.length;
  completion.qpn = qp.qpn;
  if (status == CompletionStatus::flushed) {
    ++qp.counters.requester_cqe_flushed;
  } else if (status != CompletionStatus::success) {
    ++qp.counters.requester_cqe_errors;
  }
  push_completion(device, *qp.send_cq, completion, true);
}

void complete_receive(DeviceState& device, Qp& qp, const Completion& completion, bool solicited) {
  qp.resp.has_receive = false;
  if (completion.status != CompletionStatus::success) ++qp.counters.responder_cqe_errors;
  push_completion(device, *qp.receive_cq, completion, solicited);
}

}  // namespace roce::transport::detail
