// SPDX-License-Identifier: BSD-2-Clause
// Queue pairs: made and destroyed. qp_attributes.cc changes them.
#include <algorithm>
#include <memory>

#include "verbs/ibverbs/acknowledgement.h"
#include "verbs/ibverbs/entries.h"
#include "verbs/ibverbs/objects.h"
#include "verbs/ibverbs/results.h"
#include "verbs/ibverbs/work_builder.h"

namespace roce::verbs {

namespace {

/// Programs count on room for small messages without asking for it.
constexpr std::uint32_t kLeastInline = 64;

[[nodiscard]] OrErrno<transport::QpType> type_of(ibv_qp_type type) {
  switch (type) {
    case IBV_QPT_RC:
      return transport::QpType::rc;
    case IBV_QPT_UC:
      return transport::QpType::uc;
    case IBV_QPT_UD:
      return transport::QpType::ud;
    default:
      return refused(EOPNOTSUPP);
  }
}

/// Returns the capacities that a QP gets which asks for `cap`: EINVAL if that is more than there is.
[[nodiscard]] OrErrno<ibv_qp_cap> given(ibv_qp_cap cap, bool has_srq) {
  const transport::Limits limits = Engine::limits();
  if (cap.max_send_wr > limits.max_wr || cap.max_recv_wr > limits.max_wr || cap.max_send_sge > limits.max_sge ||
      cap.max_recv_sge > limits.max_sge || cap.max_inline_data > limits.max_inline) {
    return refused(EINVAL);
  }
  cap.max_send_wr = std::max(cap.max_send_wr, 1U);
  cap.max_recv_wr = has_srq ? 0 : std::max(cap.max_recv_wr, 1U);
  cap.max_send_sge = std::max(cap.max_send_sge, 1U);
  cap.max_recv_sge = has_srq ? 0 : std::max(cap.max_recv_sge, 1U);
  cap.max_inline_data = std::max(cap.max_inline_data, kLeastInline);
  return cap;
}

[[nodiscard]] OrErrno<transport::QpInit> init_of(ibv_pd* pd, const ibv_qp_init_attr& wanted) {
  const auto type = type_of(wanted.qp_type);
  if (!type) return refused(type.error());
  if (wanted.send_cq == nullptr || wanted.recv_cq == nullptr) return refused(EINVAL);
  for (ibv_cq* cq : {wanted.send_cq, wanted.recv_cq}) {
    if (const int error = error_of_handle(object_of(cq)); error != 0) return refused(error);
  }
  if (wanted.srq != nullptr) {
    if (const int error = error_of_handle(object_of(wanted.srq)); error != 0) return refused(error);
  }
  transport::QpInit init;
  init.type = *type;
  init.pd = object_of(pd).handle_of_device;
  init.send_cq = object_of(wanted.send_cq).handle_of_device;
  init.receive_cq = object_of(wanted.recv_cq).handle_of_device;
  if (wanted.srq != nullptr) init.srq = object_of(wanted.srq).handle_of_device;
  init.max_send = wanted.cap.max_send_wr;
  init.max_receive = wanted.cap.max_recv_wr;
  init.max_send_sge = static_cast<std::uint8_t>(wanted.cap.max_send_sge);
  init.max_receive_sge = static_cast<std::uint8_t>(wanted.cap.max_recv_sge);
  init.max_inline = static_cast<std::uint16_t>(wanted.cap.max_inline_data);
  init.signal_all = wanted.sq_sig_all != 0;
  return init;
}

[[nodiscard]] OrErrno<QpObject*> create_qp(ibv_pd* pd, ibv_qp_init_attr& wanted) {
  PdObject& owner = object_of(pd);
  if (const int error = error_of(owner); error != 0) return refused(error);
  const auto cap = given(wanted.cap, wanted.srq != nullptr);
  if (!cap) return refused(cap.error());
  auto qp = std::make_unique<QpObject>();
  qp->made_with = wanted;
  qp->made_with.cap = *cap;
  const auto init = init_of(pd, qp->made_with);
  if (!init) return refused(init.error());
  ibv_qp& base = qp->qp_base;
  base.context = pd->context;
  base.qp_context = wanted.qp_context;
  base.pd = pd;
  base.send_cq = wanted.send_cq;
  base.recv_cq = wanted.recv_cq;
  base.srq = wanted.srq;
  base.state = IBV_QPS_RESET;
  base.qp_type = wanted.qp_type;
  qp->engine = owner.engine;
  const auto made = owner.engine->use([&](transport::Device& device, Time) {
    auto qpn = device.create_qp(*init);
    if (!qpn) return qpn;
    qp->qpn = *qpn;
    object_of(pd->context).adapter->add(*qp);
    return qpn;
  });
  if (!made) return refused(errno_of(made.error()));
  base.handle = base.qp_num = made->value();
  ::pthread_mutex_init(&base.mutex, nullptr);
  ::pthread_cond_init(&base.cond, nullptr);
  wanted.cap = *cap;
  return qp.release();
}

}  // namespace

ibv_qp* create_extended_qp(ibv_context* /*context*/, ibv_qp_init_attr_ex* init) {
  return object_of([&]() -> OrErrno<ibv_qp*> {
    constexpr std::uint32_t known =
        IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    const bool has_flags = (init->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) != 0 && init->create_flags != 0;
    if ((init->comp_mask & ~known) != 0 || has_flags) return refused(EOPNOTSUPP);
    if ((init->comp_mask & IBV_QP_INIT_ATTR_PD) == 0) return refused(EINVAL);
    const bool builds = (init->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0;
    if (builds && !WorkBuilder::knows(init->send_ops_flags)) return refused(EOPNOTSUPP);
    // An `ibv_qp_init_attr_ex` begins like an `ibv_qp_init_attr`.
    const auto made = create_qp(init->pd, *reinterpret_cast<ibv_qp_init_attr*>(init));
    if (!made) return refused(made.error());
    if (builds) {
      (*made)->builder = std::make_unique<WorkBuilder>();
      WorkBuilder::set_functions(**made);
    }
    return &(*made)->qp_base;
  });
}

}  // namespace roce::verbs

using namespace roce;
using namespace roce::verbs;

struct ibv_qp* ibv_create_qp(struct ibv_pd* pd, struct ibv_qp_init_attr* init) {
  return object_of([&]() -> OrErrno<ibv_qp*> {
    const auto made = create_qp(pd, *init);
    if (!made) return refused(made.error());
    return &(*made)->qp_base;
  });
}

struct ibv_qp_ex* ibv_qp_to_qp_ex(struct ibv_qp* qp) {
  QpObject& object = object_of(qp);
  return object.builder != nullptr ? &object : nullptr;
}

int ibv_destroy_qp(struct ibv_qp* qp) {
  return status_of([&] {
    QpObject& object = object_of(qp);
    ContextObject& owner = object_of(qp->context);
    if (const int error = error_of_handle(object); error != 0) return error;
    if (object.engine->is_usable()) {
      if (const int error = errno_of(object.engine->destroy_qp(object.qpn)); error != 0) return error;
      object.engine->use([&](transport::Device&, Time) {
        owner.adapter->remove(object);
        return 0;
      });
    }
    std::uint32_t events = 0;
    owner.events.remove([&](const ibv_async_event& event) { return event.element.qp == qp; },
                        [&] { events = object.events_taken; });
    wait_for_acknowledgements(*qp, [&] { return qp->events_completed == events; });
    delete &object;
    return 0;
  });
}
