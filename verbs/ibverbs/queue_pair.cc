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
    case IBV_QPT_XRC_SEND:
      return transport::QpType::xrc_initiator;
    case IBV_QPT_XRC_RECV:
      return transport::QpType::xrc_target;
    default:
      return refused(EOPNOTSUPP);
  }
}

/// The work that QPs of a type do.
struct Kind {
  bool sends = true;         ///< no XRC target
  bool receives = true;      ///< no end of XRC
  bool has_receives = true;  ///< and without an SRQ
};
[[nodiscard]] Kind kind_of(const ibv_qp_init_attr& wanted) {
  const bool is_initiator = wanted.qp_type == IBV_QPT_XRC_SEND;
  const bool is_target = wanted.qp_type == IBV_QPT_XRC_RECV;
  const bool receives = !is_initiator && !is_target;
  return {.sends = !is_target, .receives = receives, .has_receives = receives && wanted.srq == nullptr};
}

/// Returns the capacities that a QP gets which asks for `cap`: EINVAL if that is more than there is.
[[nodiscard]] OrErrno<ibv_qp_cap> given(ibv_qp_cap cap, const Kind& kind) {
  const transport::Limits limits = Engine::limits();
  if (cap.max_send_wr > limits.max_wr || cap.max_recv_wr > limits.max_wr || cap.max_send_sge > limits.max_sge ||
      cap.max_recv_sge > limits.max_sge || cap.max_inline_data > limits.max_inline) {
    return refused(EINVAL);
  }
  if (!kind.sends) return ibv_qp_cap{};
  cap.max_send_wr = std::max(cap.max_send_wr, 1U);
  cap.max_recv_wr = kind.has_receives ? std::max(cap.max_recv_wr, 1U) : 0;
  cap.max_send_sge = std::max(cap.max_send_sge, 1U);
  cap.max_recv_sge = kind.has_receives ? std::max(cap.max_recv_sge, 1U) : 0;
  cap.max_inline_data = std::max(cap.max_inline_data, kLeastInline);
  return cap;
}

/// Returns the handle of an object that a QP is made with. `is_used`: QPs of its kind have one.
template <typename Object>
[[nodiscard]] OrErrno<decltype(Object::handle_of_device)> part(bool is_used, Object* object) {
  if (!is_used) return decltype(Object::handle_of_device){};
  if (object == nullptr) return refused(EINVAL);
  if (const int error = error_of_handle(*object); error != 0) return refused(error);
  return object->handle_of_device;
}
[[nodiscard]] CqObject* cq_or_null(ibv_cq* cq) {
  return cq == nullptr ? nullptr : &object_of(cq);
}

[[nodiscard]] OrErrno<transport::QpInit> init_of(const ibv_qp_init_attr& wanted, const Kind& kind) {
  const auto type = type_of(wanted.qp_type);
  if (!type) return refused(type.error());
  if (!kind.receives && wanted.srq != nullptr) return refused(EINVAL);
  const auto send_cq = part(kind.sends, cq_or_null(wanted.send_cq));
  if (!send_cq) return refused(send_cq.error());
  const auto receive_cq = part(kind.receives, cq_or_null(wanted.recv_cq));
  if (!receive_cq) return refused(receive_cq.error());
  transport::QpInit init;
  init.type = *type;
  init.send_cq = *send_cq;
  init.receive_cq = *receive_cq;
  if (wanted.srq != nullptr) {
    const auto srq = part(true, &object_of(wanted.srq));
    if (!srq) return refused(srq.error());
    init.srq = *srq;
  }
  init.max_send = wanted.cap.max_send_wr;
  init.max_receive = wanted.cap.max_recv_wr;
  init.max_send_sge = static_cast<std::uint8_t>(wanted.cap.max_send_sge);
  init.max_receive_sge = static_cast<std::uint8_t>(wanted.cap.max_recv_sge);
  init.max_inline = static_cast<std::uint16_t>(wanted.cap.max_inline_data);
  init.signal_all = wanted.sq_sig_all != 0;
  return init;
}

/// Where a QP is made: in a PD, or an XRC target in a domain.
struct Owner {
  Engine* engine = nullptr;
  ibv_context* context = nullptr;
  ibv_pd* pd = nullptr;
  std::shared_ptr<XrcDomain> xrc_domain;
};

[[nodiscard]] OrErrno<Owner> owner_of(ibv_pd* pd, ibv_xrcd* xrcd, const Kind& kind) {
  if (kind.sends) {
    if (pd == nullptr) return refused(EINVAL);
    if (const int error = error_of(object_of(pd)); error != 0) return refused(error);
    return Owner{object_of(pd).engine, pd->context, pd, nullptr};
  }
  if (xrcd == nullptr) return refused(EINVAL);
  if (!object_of(xrcd).engine->is_usable()) return refused(EIO);
  return Owner{object_of(xrcd).engine, xrcd->context, nullptr, object_of(xrcd).domain};
}

[[nodiscard]] OrErrno<QpObject*> create_qp(ibv_pd* pd, ibv_xrcd* xrcd, ibv_qp_init_attr& wanted) {
  const Kind kind = kind_of(wanted);
  const OrErrno<Owner> owner = owner_of(pd, xrcd, kind);
  if (!owner) return refused(owner.error());
  const auto cap = given(wanted.cap, kind);
  if (!cap) return refused(cap.error());
  auto qp = std::make_unique<QpObject>();
  qp->made_with = wanted;
  qp->made_with.cap = *cap;
  if (!kind.sends) qp->made_with.send_cq = nullptr;
  if (!kind.receives) qp->made_with.recv_cq = nullptr;
  auto init = init_of(qp->made_with, kind);
  if (!init) return refused(init.error());
  if (owner->pd != nullptr) init->pd = object_of(owner->pd).handle_of_device;
  if (owner->xrc_domain != nullptr) init->xrcd = owner->xrc_domain->handle_of_device;
  ibv_qp& base = qp->qp_base;
  base.context = owner->context;
  base.qp_context = wanted.qp_context;
  base.pd = owner->pd;
  base.send_cq = qp->made_with.send_cq;
  base.recv_cq = qp->made_with.recv_cq;
  base.srq = wanted.srq;
  base.state = IBV_QPS_RESET;
  base.qp_type = wanted.qp_type;
  qp->engine = owner->engine;
  qp->xrc_domain = owner->xrc_domain;
  const auto made = owner->engine->use([&](transport::Device& device, Time) {
    auto qpn = device.create_qp(*init);
    if (!qpn) return qpn;
    qp->qpn = *qpn;
    object_of(base.context).adapter->add(*qp);
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
        IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD | IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    const bool has_flags = (init->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) != 0 && init->create_flags != 0;
    if ((init->comp_mask & ~known) != 0 || has_flags) return refused(EOPNOTSUPP);
    ibv_pd* pd = (init->comp_mask & IBV_QP_INIT_ATTR_PD) != 0 ? init->pd : nullptr;
    ibv_xrcd* xrcd = (init->comp_mask & IBV_QP_INIT_ATTR_XRCD) != 0 ? init->xrcd : nullptr;
    const bool builds = (init->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0;
    if (builds && !WorkBuilder::knows(init->send_ops_flags)) return refused(EOPNOTSUPP);
    // An `ibv_qp_init_attr_ex` begins like an `ibv_qp_init_attr`.
    const auto made = create_qp(pd, xrcd, *reinterpret_cast<ibv_qp_init_attr*>(init));
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
    const auto made = create_qp(pd, nullptr, *init);
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
      // Another handle of an XRC target keeps it.
      const bool is_last = object.engine->use([&](transport::Device&, Time) {
        owner.adapter->remove(object);
        return owner.adapter->find_qp(object.qpn) == nullptr;
      });
      const int error = is_last ? errno_of(object.engine->destroy_qp(object.qpn)) : 0;
      if (error != 0) {
        object.engine->use([&](transport::Device&, Time) {
          owner.adapter->add(object);
          return 0;
        });
        return error;
      }
    }
    std::uint32_t events = 0;
    owner.events.remove([&](const ibv_async_event& event) { return event.element.qp == qp; },
                        [&] { events = object.events_taken; });
    wait_for_acknowledgements(*qp, [&] { return qp->events_completed == events; });
    delete &object;
    return 0;
  });
}
