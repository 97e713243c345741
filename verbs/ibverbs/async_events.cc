// SPDX-License-Identifier: BSD-2-Clause
// Asynchronous events: what happens to CQs, QPs, SRQs and the device without a work request.
#include "verbs/ibverbs/acknowledgement.h"
#include "verbs/ibverbs/objects.h"

using namespace roce;
using namespace roce::verbs;

int ibv_get_async_event(struct ibv_context* context, struct ibv_async_event* event) {
  const bool taken = object_of(context).events.take([&](const ibv_async_event& oldest) {
    *event = oldest;
    switch (oldest.event_type) {
      case IBV_EVENT_CQ_ERR:
        ++object_of(oldest.element.cq).async_events_taken;
        break;
      case IBV_EVENT_SRQ_ERR:
      case IBV_EVENT_SRQ_LIMIT_REACHED:
        ++object_of(oldest.element.srq).events_taken;
        break;
      case IBV_EVENT_DEVICE_FATAL:
        break;
      default:
        ++object_of(oldest.element.qp).events_taken;
    }
  });
  return taken ? 0 : -1;
}

void ibv_ack_async_event(struct ibv_async_event* event) {
  switch (event->event_type) {
    case IBV_EVENT_CQ_ERR: {
      ibv_cq& cq = *event->element.cq;
      acknowledge(cq, [&] { ++cq.async_events_completed; });
      break;
    }
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED: {
      ibv_srq& srq = *event->element.srq;
      acknowledge(srq, [&] { ++srq.events_completed; });
      break;
    }
    case IBV_EVENT_DEVICE_FATAL:
      break;
    default: {
      ibv_qp& qp = *event->element.qp;
      acknowledge(qp, [&] { ++qp.events_completed; });
    }
  }
}
