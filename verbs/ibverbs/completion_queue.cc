// SPDX-License-Identifier: BSD-2-Clause
// Completion queues, their channels and what is read from these.
#include "verbs/ibverbs/completion_queue.h"

#include <algorithm>
#include <bit>
#include <memory>

#include "verbs/ibverbs/acknowledgement.h"
#include "verbs/ibverbs/entries.h"
#include "verbs/ibverbs/objects.h"
#include "verbs/ibverbs/results.h"

namespace roce::verbs {

namespace {

/// Programs make CQs of one entry and put more into them: hardware rounds up.
constexpr std::uint32_t kLeastCqe = 63;

[[nodiscard]] bool can_have(std::uint32_t entries) {
  return entries != 0 && entries <= Engine::limits().max_cqe;
}

[[nodiscard]] std::uint32_t rounded(std::uint32_t entries) {
  return std::min(std::bit_ceil(std::max(entries, kLeastCqe) + 1) - 1, Engine::limits().max_cqe);
}

}  // namespace

OrErrno<CqObject*> make_cq(ibv_context* context, const CqWish& wish) {
  if (!can_have(wish.entries) || wish.vector < 0 || wish.vector >= context->num_comp_vectors) return refused(EINVAL);
  const std::uint32_t capacity = rounded(wish.entries);
  ContextObject& owner = object_of(context);
  const OrErrno<Engine*> engine = owner.adapter->engine();
  if (!engine) return refused(engine.error());
  auto cq = std::make_unique<CqObject>();
  cq->engine = *engine;
  cq->context = context;
  cq->channel = wish.channel;
  cq->cq_context = wish.cq_context;
  cq->cqe = static_cast<int>(capacity);
  const auto made = (*engine)->use([&](transport::Device& device, Time) {
    auto handle = device.create_cq(capacity);
    if (!handle) return handle;
    cq->handle_of_device = *handle;
    cq->handle = handle->index;
    owner.adapter->add(*cq);
    return handle;
  });
  if (!made) return refused(errno_of(made.error()));
  ::pthread_mutex_init(&cq->mutex, nullptr);
  ::pthread_cond_init(&cq->cond, nullptr);
  if (wish.channel != nullptr) ++wish.channel->refcnt;
  return cq.release();
}

int request_notify(ibv_cq* cq, int solicited_only) {
  return status_of([&] {
    CqObject& object = object_of(cq);
    if (const int error = error_of(object); error != 0) return error;
    const int outcome = errno_of(object.engine->use([&](transport::Device& device, Time) {
      return device.request_notify(object.handle_of_device, solicited_only != 0);
    }));
    object.engine->stop_resting();
    return outcome;
  });
}

}  // namespace roce::verbs

using namespace roce;
using namespace roce::verbs;

struct ibv_cq* ibv_create_cq(struct ibv_context* context, int entries, void* cq_context,
                             struct ibv_comp_channel* channel, int vector) {
  return object_of([&]() -> OrErrno<ibv_cq*> {
    if (entries < 1) return refused(EINVAL);
    const auto made = make_cq(context, {static_cast<std::uint32_t>(entries), cq_context, channel, vector});
    if (!made) return refused(made.error());
    return (*made)->as_cq();
  });
}

int ibv_destroy_cq(struct ibv_cq* cq) {
  return status_of([&] {
    CqObject& object = object_of(cq);
    ContextObject& owner = object_of(cq->context);
    if (const int error = error_of_handle(object); error != 0) return error;
    if (object.engine->is_usable()) {
      const int error = errno_of(object.engine->use([&](transport::Device& device, Time) {
        auto destroyed = device.destroy_cq(object.handle_of_device);
        if (destroyed) owner.adapter->remove(object);
        return destroyed;
      }));
      if (error != 0) return error;
    }
    std::uint32_t comp_events = 0;
    std::uint32_t async_events = 0;
    if (cq->channel != nullptr) {
      object_of(cq->channel)
          .events.remove([&](const CqObject* entry) { return entry == &object; },
                         [&] { comp_events = object.comp_events_taken; });
      --cq->channel->refcnt;
    }
    owner.events.remove([&](const ibv_async_event& event) { return event.element.cq == cq; },
                        [&] { async_events = object.async_events_taken; });
    wait_for_acknowledgements(
        *cq, [&] { return cq->comp_events_completed == comp_events && cq->async_events_completed == async_events; });
    delete &object;
    return 0;
  });
}

struct ibv_comp_channel* ibv_create_comp_channel(struct ibv_context* context) {
  return object_of([&]() -> OrErrno<ibv_comp_channel*> {
    auto channel = std::make_unique<ChannelObject>();
    channel->context = context;
    channel->fd = channel->events.fd();
    channel->refcnt = 0;
    return channel.release();
  });
}

int ibv_destroy_comp_channel(struct ibv_comp_channel* channel) {
  return status_of([&] {
    if (channel->refcnt != 0) return EBUSY;
    delete &object_of(channel);
    return 0;
  });
}

int ibv_get_cq_event(struct ibv_comp_channel* channel, struct ibv_cq** cq, void** cq_context) {
  const bool taken = object_of(channel).events.take([&](CqObject* ready) {
    ++ready->comp_events_taken;
    *cq = ready->as_cq();
    *cq_context = ready->cq_context;
  });
  return taken ? 0 : -1;
}

void ibv_ack_cq_events(struct ibv_cq* cq, unsigned count) {
  acknowledge(*cq, [&] { cq->comp_events_completed += count; });
}

/// Programs expect EINVAL if fewer entries are asked for than there are completions, not than rounding up gives.
int ibv_resize_cq(struct ibv_cq* cq, int entries) {
  return status_of([&] {
    if (entries < 1 || !can_have(static_cast<std::uint32_t>(entries))) return EINVAL;
    CqObject& object = object_of(cq);
    if (const int error = error_of(object); error != 0) return error;
    const std::uint32_t capacity = rounded(static_cast<std::uint32_t>(entries));
    const int error = errno_of(object.engine->use([&](transport::Device& device, Time) {
      // The device knows how many completions there are: it refuses a size below that.
      auto exact = device.resize_cq(object.handle_of_device, static_cast<std::uint32_t>(entries));
      return exact ? device.resize_cq(object.handle_of_device, capacity) : exact;
    }));
    if (error == 0) cq->cqe = static_cast<int>(capacity);
    return error;
  });
}
