// SPDX-License-Identifier: BSD-2-Clause
// Completions, and the flushing of a QP that goes to ERR.
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

void flush_receive(DeviceState& device, Qp& qp, std::uint64_t wr_id) {
  Completion completion{};
  completion.wr_id = wr_id;
  completion.status = CompletionStatus::flushed;
  completion.opcode = CompletionOpcode::receive;
  completion.qpn = qp.qpn;
  ++qp.counters.responder_cqe_flushed;
  push_completion(device, *qp.receive_cq, completion, true);
}

/// Takes the oldest receive of an SRQ and leaves it there: a fault.
bool take_without_removing(Qp& qp) {
  ReceiveQueue copy = qp.srq->queue;
  qp.resp.receive = copy.pop(qp.resp.receive_sges);
  qp.resp.has_receive = true;
  return true;
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
  if (cq.armed == CompletionQueue::Armed::no) return;
  if (cq.armed == CompletionQueue::Armed::any || solicited || completion.status != CompletionStatus::success) {
    cq.armed = CompletionQueue::Armed::no;
    device.report(Event{.type = EventType::cq_ready, .cq = cq.handle});
  }
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

bool take_receive(DeviceState& device, Qp& qp) {
  Responder& resp = qp.resp;
  if (resp.has_receive) return true;
  ReceiveQueue& queue = qp.srq != nullptr ? qp.srq->queue : resp.queue;
  if (queue.empty()) return false;
  if (fault(Fault::srq_head_per_qp) && qp.srq != nullptr) return take_without_removing(qp);
  resp.receive = queue.pop(resp.receive_sges);
  resp.has_receive = true;
  // QP-15 (an SRQ with fewer receives than its limit makes one event and is disarmed)
  if (qp.srq != nullptr && qp.srq->limit != 0 && queue.size() < qp.srq->limit) {
    if (!fault(Fault::srq_limit_again)) qp.srq->limit = 0;
    device.report(Event{.type = EventType::srq_limit, .srq = qp.srq->handle});
  }
  return true;
}

void enter_error(DeviceState& device, Qp& qp, bool keep_answers) {
  const bool was_error = qp.state == QpState::err;
  // Receives that are about to be flushed no longer count as available.
  qp.resp.queue.watch(nullptr);
  qp.state = QpState::err;
  Requester& req = qp.req;
  Responder& resp = qp.resp;
  // QP-08 (everything that is posted ends in order as flushed)
  while (req.head != req.tail) complete_send(device, qp, CompletionStatus::flushed);
  req.una = req.sent_end = req.next_psn;
  req.rd_outstanding = 0;
  req.timeout_at = req.rnr_until = kNever;
  resp.open = Responder::Open::nothing;
  resp.drop_held_ack();
  if (!keep_answers) resp.responses.clear();
  if (resp.has_receive) {
    resp.has_receive = false;
    flush_receive(device, qp, resp.receive.wr_id);
  }
  if (fault(Fault::srq_flushed_too) && qp.srq != nullptr) {
    while (!qp.srq->queue.empty()) flush_receive(device, qp, qp.srq->queue.pop(resp.receive_sges).wr_id);
  }
  if (qp.srq == nullptr) {
    while (!resp.queue.empty()) flush_receive(device, qp, resp.queue.pop(resp.receive_sges).wr_id);
  } else if (!was_error && !fault(Fault::no_last_wqe)) {
    // QP-16 (the receives of the SRQ stay, and the QP makes the event last WQE reached)
    device.report(Event{.type = EventType::last_wqe_reached, .qpn = qp.qpn, .srq = qp.srq->handle});
  }
}

void settle_overflows(DeviceState& device) {
  if (!device.cq_overflowed) return;
  device.cq_overflowed = false;
  for (const std::unique_ptr<Qp>& qp : device.qps) {
    if (qp == nullptr || qp->state == QpState::err || qp->state == QpState::reset) continue;
    if (!qp->send_cq->overflowed && !qp->receive_cq->overflowed) continue;
    device.report(Event{.type = EventType::qp_fatal, .qpn = qp->qpn});
    enter_error(device, *qp, false);
  }
}

}  // namespace roce::transport::detail
