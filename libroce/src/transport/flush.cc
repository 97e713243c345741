// SPDX-License-Identifier: BSD-2-Clause
// A QP that goes to ERR: what was posted ends as flushed, in order.
#include "transport/flush.h"

#include "transport/completion.h"
#include "transport/device_state.h"
#include "transport/faults.h"
#include "transport/owed_answers.h"

namespace roce::transport::detail {

namespace {

void flush_receive(DeviceState& device, Qp& qp, std::uint64_t wr_id) {
  Completion completion{};
  completion.wr_id = wr_id;
  completion.status = CompletionStatus::flushed;
  completion.opcode = CompletionOpcode::receive;
  completion.qpn = qp.qpn;
  ++qp.counters.responder_cqe_flushed;
  push_completion(device, *qp.receive_cq, completion, true);
}

}  // namespace

void enter_error(DeviceState& device, Qp& qp, bool keep_reads) {
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
  if (resp.gap != nullptr) resp.gap->forget();
  if (req.recovery != nullptr) req.recovery->stop();
  if (!keep_reads) keep_executed(device, qp);
  resp.drop_held_ack();
  if (resp.has_receive) {
    resp.has_receive = false;
    flush_receive(device, qp, resp.receive.wr_id);
  }
  if (fault(Fault::srq_flushed_too) && qp.srq != nullptr) {
    while (!qp.srq->queue.empty()) flush_receive(device, qp, qp.srq->queue.pop(resp.receive_sges).wr_id);
  }
  if (qp.srq == nullptr) {
    while (!resp.queue.empty()) flush_receive(device, qp, resp.queue.pop(resp.receive_sges).wr_id);
  } else if (qp.init.srq && !was_error && !fault(Fault::no_last_wqe)) {
    // QP-16 (the receives of the SRQ stay, and the QP makes the event last WQE reached)
    device.report(Event{.type = EventType::last_wqe_reached, .qpn = qp.qpn, .srq = qp.srq->handle});
  }
}

void settle_overflows(DeviceState& device) {
  if (!device.cq_overflowed) return;
  device.cq_overflowed = false;
  for (const std::unique_ptr<Qp>& qp : device.qps) {
    if (qp == nullptr || qp->state == QpState::err || qp->state == QpState::reset) continue;
    const auto has_overflowed = [](const CompletionQueue* cq) { return cq != nullptr && cq->overflowed; };
    if (!has_overflowed(qp->send_cq) && !has_overflowed(qp->receive_cq)) continue;
    device.report(Event{.type = EventType::qp_fatal, .qpn = qp->qpn});
    enter_error(device, *qp, false);
  }
}

}  // namespace roce::transport::detail
