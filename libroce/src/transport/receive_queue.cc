// SPDX-License-Identifier: BSD-2-Clause
// Taking a receive from a QP's own queue or its SRQ, and the limit of an SRQ.
#include "transport/receive_queue.h"

#include "transport/device_state.h"
#include "transport/faults.h"

namespace roce::transport::detail {

namespace {

/// Takes the oldest receive of an SRQ and leaves it there: a fault.
bool take_without_removing(Qp& qp) {
  ReceiveQueue copy = qp.srq->queue;
  qp.resp.receive = copy.pop(qp.resp.receive_sges);
  qp.resp.has_receive = true;
  return true;
}

}  // namespace

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

}  // namespace roce::transport::detail
