// SPDX-License-Identifier: BSD-2-Clause
// Contexts: opening and closing a device.
#include <sys/mman.h>
#include <unistd.h>

#include "verbs/ibverbs/adapter.h"
#include "verbs/ibverbs/entries.h"
#include "verbs/ibverbs/objects.h"
#include "verbs/ibverbs/results.h"

namespace roce::verbs {

namespace {

/// Fills in the functions that programs call through the context, by inline functions of verbs.h.
void set_entries(verbs_context& context) {
  context.sz = sizeof context;
  context.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
  ibv_context_ops& ops = context.context.ops;
  ops.poll_cq = poll_cq;
  ops.req_notify_cq = request_notify;
  ops.post_send = post_send;
  ops.post_recv = post_receive;
  ops.post_srq_recv = post_srq_receive;
  context.query_port = query_port;
  context.query_device_ex = query_device;
  ops.alloc_mw = alloc_window;
  ops.dealloc_mw = free_window;
  ops.bind_mw = bind_window;
  context.create_qp_ex = create_extended_qp;
  context.create_cq_ex = create_extended_cq;
  context.alloc_dm = alloc_device_memory;
  context.free_dm = free_device_memory;
  context.reg_dm_mr = register_device_memory;
  context.advise_mr = advise_memory;
  context.alloc_td = alloc_thread_domain;
  context.dealloc_td = free_thread_domain;
  context.alloc_parent_domain = alloc_parent_domain;
  context.query_rt_values = query_clock;
  context.open_xrcd = open_xrc_domain;
  context.close_xrcd = close_xrc_domain;
  context.create_srq_ex = create_extended_srq;
  context.get_srq_num = get_srq_number;
  context.open_qp = open_target_qp;
}

[[nodiscard]] std::shared_ptr<Adapter> adapter_of(DeviceObject& device) {
  const std::scoped_lock lock{device.opening};
  std::shared_ptr<Adapter> adapter = device.adapter.lock();
  // A child that was forked has none of its parent's threads, and begins anew with what it opens itself.
  if (adapter == nullptr || !adapter->is_of_this_process()) {
    adapter = std::make_shared<Adapter>(device.place);
    device.adapter = adapter;
  }
  return adapter;
}

}  // namespace
}  // namespace roce::verbs

using namespace roce;
using namespace roce::verbs;

struct ibv_context* ibv_open_device(struct ibv_device* device) {
  return object_of([&]() -> OrErrno<ibv_context*> {
    auto context = std::make_unique<ContextObject>();
    set_entries(*context);
    context->context.device = device;
    context->context.async_fd = context->events.fd();
    context->context.num_comp_vectors = 1;
    // Programs duplicate this descriptor and ask for its flags; nothing is behind it.
    context->context.cmd_fd = ::memfd_create("roce-verbs", MFD_CLOEXEC);
    if (context->context.cmd_fd < 0) return refused(errno);
    ::pthread_mutex_init(&context->context.mutex, nullptr);
    context->adapter = adapter_of(object_of(device));
    context->adapter->add(*context);
    return &context.release()->context;
  });
}

int ibv_close_device(struct ibv_context* context) {
  return status_of([&] {
    std::unique_ptr<ContextObject> object{&object_of(context)};
    object->adapter->remove(*object);
    ::close(context->cmd_fd);
    ::pthread_mutex_destroy(&context->mutex);
    return 0;
  });
}
