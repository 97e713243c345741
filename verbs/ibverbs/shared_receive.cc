// SPDX-License-Identifier: BSD-2-Clause
// Shared receive queues.
#include "verbs/ibverbs/shared_receive.h"

#include <algorithm>
#include <memory>

#include "verbs/ibverbs/acknowledgement.h"
#include "verbs/ibverbs/objects.h"
#include "verbs/ibverbs/results.h"

namespace roce::verbs {

OrErrno<ibv_srq*> make_srq(ibv_pd* pd, void* srq_context, ibv_srq_attr& wanted, const XrcPart* xrc) {
  PdObject& owner = object_of(pd);
  if (const int error = error_of(owner); error != 0) return refused(error);
  const transport::Limits limits = Engine::limits();
  if (wanted.max_wr > limits.max_wr || wanted.max_sge > limits.max_sge) return refused(EINVAL);
  auto srq = std::make_unique<SrqObject>();
  srq->engine = owner.engine;
  srq->context = pd->context;
  srq->srq_context = srq_context;
  srq->pd = pd;
  srq->attributes = {std::max(wanted.max_wr, 1U), std::max(wanted.max_sge, 1U), 0};
  const std::uint32_t capacity = srq->attributes.max_wr;
  const auto max_sge = static_cast<std::uint8_t>(srq->attributes.max_sge);
  const auto made = owner.engine->use([&](transport::Device& device, Time) {
    auto handle = xrc == nullptr
                      ? device.create_srq(owner.handle_of_device, capacity, max_sge)
                      : device.create_xrc_srq({owner.handle_of_device, xrc->domain, xrc->cq, capacity, max_sge});
    if (!handle) return handle;
    srq->handle_of_device = *handle;
    srq->handle = handle->index;
    object_of(pd->context).adapter->add(*srq);
    return handle;
  });
  if (!made) return refused(errno_of(made.error()));
  ::pthread_mutex_init(&srq->mutex, nullptr);
  ::pthread_cond_init(&srq->cond, nullptr);
  wanted.max_wr = srq->attributes.max_wr;
  wanted.max_sge = srq->attributes.max_sge;
  return srq.release();
}

}  // namespace roce::verbs

using namespace roce;
using namespace roce::verbs;

struct ibv_srq* ibv_create_srq(struct ibv_pd* pd, struct ibv_srq_init_attr* init) {
  return object_of([&] { return make_srq(pd, init->srq_context, init->attr, nullptr); });
}

int ibv_modify_srq(struct ibv_srq* srq, struct ibv_srq_attr* attributes, int mask) {
  return status_of([&] {
    SrqObject& object = object_of(srq);
    if (const int error = error_of(object); error != 0) return error;
    if ((mask & ~(IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT)) != 0) return EINVAL;
    return errno_of(object.engine->use([&](transport::Device& device, Time) -> transport::VerbResult<void> {
      ibv_srq_attr wanted = object.attributes;
      if ((mask & IBV_SRQ_MAX_WR) != 0) {
        wanted.max_wr = attributes->max_wr;
        auto resized = device.resize_srq(object.handle_of_device, wanted.max_wr);
        if (!resized) return resized;
      }
      if ((mask & IBV_SRQ_LIMIT) != 0) {
        wanted.srq_limit = attributes->srq_limit;
        auto armed = device.arm_srq_limit(object.handle_of_device, wanted.srq_limit);
        if (!armed) {
          // Both or none. What was there before had room.
          static_cast<void>(device.resize_srq(object.handle_of_device, object.attributes.max_wr));
          return armed;
        }
      }
      object.attributes = wanted;
      return {};
    }));
  });
}

int ibv_query_srq(struct ibv_srq* srq, struct ibv_srq_attr* attributes) {
  return status_of([&] {
    SrqObject& object = object_of(srq);
    if (const int error = error_of(object); error != 0) return error;
    *attributes = object.engine->use([&](transport::Device&, Time) { return object.attributes; });
    return 0;
  });
}

int ibv_destroy_srq(struct ibv_srq* srq) {
  return status_of([&] {
    SrqObject& object = object_of(srq);
    ContextObject& owner = object_of(srq->context);
    if (const int error = error_of_handle(object); error != 0) return error;
    if (object.engine->is_usable()) {
      const int error = errno_of(object.engine->use([&](transport::Device& device, Time) {
        auto destroyed = device.destroy_srq(object.handle_of_device);
        if (destroyed) owner.adapter->remove(object);
        return destroyed;
      }));
      if (error != 0) return error;
    }
    std::uint32_t events = 0;
    owner.events.remove([&](const ibv_async_event& event) { return event.element.srq == srq; },
                        [&] { events = object.events_taken; });
    wait_for_acknowledgements(*srq, [&] { return srq->events_completed == events; });
    delete &object;
    return 0;
  });
}
