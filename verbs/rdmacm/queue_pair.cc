// SPDX-License-Identifier: BSD-2-Clause
// Queue pairs of identifiers: made with what they need, and taken through their states.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "verbs/rdmacm/objects.h"
#include "verbs/rdmacm/outcome.h"

namespace roce::verbs {

namespace {

/// A peer waits 0.64 ms for a receive; librdmacm leaves it at the longest time, 655 ms.
constexpr std::uint8_t kMinRnrTimer = 12;

[[nodiscard]] int access_of(const IdObject& id) {
  if (id.connection == 0) return 0;
  const bool reads = id.qp_type == IBV_QPT_RC && id.agreement.max_dest_rd_atomic != 0;
  return IBV_ACCESS_REMOTE_WRITE | (reads ? IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC : 0);
}

[[nodiscard]] int fill_in_init(const IdObject& id, ibv_qp_attr& attributes) {
  attributes.pkey_index = 0;
  attributes.port_num = 1;
  if (id.qp_type == IBV_QPT_UD) {
    attributes.qkey = RDMA_UDP_QKEY;
    return IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
  }
  attributes.qp_access_flags = static_cast<unsigned>(access_of(id));
  return IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
}

[[nodiscard]] int fill_in_rtr(const IdObject& id, ibv_qp_attr& attributes) {
  if (id.qp_type == IBV_QPT_UD) return IBV_QP_STATE;
  const cm::Agreement& agreement = id.agreement;
  attributes.path_mtu = static_cast<ibv_mtu>(agreement.path_mtu);
  attributes.dest_qp_num = agreement.dest_qp.value();
  attributes.rq_psn = agreement.rq_psn.value();
  attributes.ah_attr = {};
  attributes.ah_attr.is_global = 1;
  attributes.ah_attr.port_num = 1;
  ibv_global_route& route = attributes.ah_attr.grh;
  std::memcpy(route.dgid.raw, id.remote.octets.data(), sizeof route.dgid.raw);
  route.flow_label = agreement.flow_label;
  route.traffic_class = agreement.traffic_class;
  route.hop_limit = agreement.hop_limit;
  const int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  if (id.qp_type == IBV_QPT_UC) return mask;
  attributes.max_dest_rd_atomic = agreement.max_dest_rd_atomic;
  attributes.min_rnr_timer = kMinRnrTimer;
  return mask | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
}

[[nodiscard]] int fill_in_rts(const IdObject& id, ibv_qp_attr& attributes) {
  if (id.qp_type == IBV_QPT_UD) {
    attributes.sq_psn = 0;
    return IBV_QP_STATE | IBV_QP_SQ_PSN;
  }
  attributes.sq_psn = id.agreement.sq_psn.value();
  if (id.qp_type == IBV_QPT_UC) return IBV_QP_STATE | IBV_QP_SQ_PSN;
  attributes.timeout = id.ack_timeout.value_or(id.agreement.timeout);
  attributes.retry_cnt = id.agreement.retry_count;
  attributes.rnr_retry = id.agreement.rnr_retry;
  attributes.max_rd_atomic = id.agreement.max_rd_atomic;
  return IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
}

[[nodiscard]] int go_to(IdObject& id, ibv_qp_state state) {
  ibv_qp_attr attributes{};
  attributes.qp_state = state;
  const int mask = fill_in(id, attributes);
  return ibv_modify_qp(id.qp, &attributes, mask);
}

/// Makes a CQ with a completion channel. False with errno.
[[nodiscard]] bool make_cq(IdObject& id, std::uint32_t entries, ibv_comp_channel*& channel, ibv_cq*& cq) {
  channel = ibv_create_comp_channel(id.verbs);
  if (channel == nullptr) return false;
  cq = ibv_create_cq(id.verbs, static_cast<int>(std::max(entries, 1U)), &id, channel, 0);
  return cq != nullptr;
}

void destroy_cq(ibv_comp_channel*& channel, ibv_cq*& cq) {
  if (cq != nullptr) (void)ibv_destroy_cq(cq);
  if (channel != nullptr) (void)ibv_destroy_comp_channel(channel);
  cq = nullptr;
  channel = nullptr;
}

void destroy_cqs(IdObject& id) {
  if (!id.owns_cqs) return;
  destroy_cq(id.recv_cq_channel, id.recv_cq);
  destroy_cq(id.send_cq_channel, id.send_cq);
  id.owns_cqs = false;
}

/// Makes the CQs that a program has not brought. Returns a number of errno.h.
[[nodiscard]] int make_cqs(IdObject& id, ibv_qp_init_attr_ex& attributes) {
  if (attributes.send_cq != nullptr && attributes.recv_cq != nullptr) return 0;
  id.owns_cqs = true;
  const bool made =
      (attributes.recv_cq != nullptr || make_cq(id, attributes.cap.max_recv_wr, id.recv_cq_channel, id.recv_cq)) &&
      (attributes.send_cq != nullptr || make_cq(id, attributes.cap.max_send_wr, id.send_cq_channel, id.send_cq));
  if (!made) {
    const int error = errno;
    destroy_cqs(id);
    return error;
  }
  if (attributes.recv_cq == nullptr) attributes.recv_cq = id.recv_cq;
  if (attributes.send_cq == nullptr) attributes.send_cq = id.send_cq;
  return 0;
}

/// Takes a new QP as far as it can go without a peer. Returns a number of errno.h.
[[nodiscard]] int begin(IdObject& id) {
  int error = go_to(id, IBV_QPS_INIT);
  if (error != 0 || id.qp_type != IBV_QPT_UD) return error;
  error = go_to(id, IBV_QPS_RTR);
  return error != 0 ? error : go_to(id, IBV_QPS_RTS);
}

[[nodiscard]] int create_qp(IdObject& id, ibv_qp_init_attr_ex& attributes) {
  if (id.device == nullptr || id.qp != nullptr) return EINVAL;
  if ((attributes.comp_mask & IBV_QP_INIT_ATTR_PD) == 0 || attributes.pd == nullptr) {
    attributes.pd = id.pd;
    attributes.comp_mask |= IBV_QP_INIT_ATTR_PD;
  }
  if (attributes.pd == nullptr || attributes.pd->context != id.verbs) return EINVAL;
  id.pd = attributes.pd;
  if (attributes.srq == nullptr) attributes.srq = id.srq;
  if (const int error = make_cqs(id, attributes); error != 0) return error;
  id.qp = ibv_create_qp_ex(id.verbs, &attributes);
  int error = id.qp != nullptr ? 0 : errno;
  if (error == 0) {
    id.qp_type = attributes.qp_type;
    error = begin(id);
  }
  if (error == 0) error = attach_to_groups(id);
  if (error == 0) return 0;
  rdma_destroy_qp(&id);
  return error;
}

}  // namespace

int fill_in(const IdObject& id, ibv_qp_attr& attributes) {
  switch (attributes.qp_state) {
    case IBV_QPS_INIT:
      return fill_in_init(id, attributes);
    case IBV_QPS_RTR:
      return fill_in_rtr(id, attributes);
    case IBV_QPS_RTS:
      return fill_in_rts(id, attributes);
    case IBV_QPS_ERR:
      return IBV_QP_STATE;
    default:
      return 0;
  }
}

int make_ready(IdObject& id) {
  // Its rights depend on the agreement, and it went to INIT before there was one.
  for (const ibv_qp_state state : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}) {
    if (const int error = go_to(id, state); error != 0) return error;
  }
  return 0;
}

void end_qp(IdObject& id) {
  if (id.qp != nullptr) (void)go_to(id, IBV_QPS_ERR);
}

}  // namespace roce::verbs

using namespace roce::verbs;

int rdma_create_qp_ex(struct rdma_cm_id* id, struct ibv_qp_init_attr_ex* qp_init_attr) {
  return outcome_of([&] { return create_qp(object_of(id), *qp_init_attr); });
}

int rdma_create_qp(struct rdma_cm_id* id, struct ibv_pd* pd, struct ibv_qp_init_attr* qp_init_attr) {
  return outcome_of([&] {
    ibv_qp_init_attr_ex attributes{};
    attributes.qp_context = qp_init_attr->qp_context;
    attributes.send_cq = qp_init_attr->send_cq;
    attributes.recv_cq = qp_init_attr->recv_cq;
    attributes.srq = qp_init_attr->srq;
    attributes.cap = qp_init_attr->cap;
    attributes.qp_type = qp_init_attr->qp_type;
    attributes.sq_sig_all = qp_init_attr->sq_sig_all;
    attributes.comp_mask = pd != nullptr ? std::uint32_t{IBV_QP_INIT_ATTR_PD} : 0U;
    attributes.pd = pd;
    const int error = create_qp(object_of(id), attributes);
    qp_init_attr->cap = attributes.cap;
    return error;
  });
}

void rdma_destroy_qp(struct rdma_cm_id* id) {
  IdObject& object = object_of(id);
  detach_from_groups(object);
  if (id->qp != nullptr) (void)ibv_destroy_qp(id->qp);
  id->qp = nullptr;
  destroy_cqs(object);
}

int rdma_init_qp_attr(struct rdma_cm_id* id, struct ibv_qp_attr* qp_attr, int* qp_attr_mask) {
  return outcome_of([&] {
    *qp_attr_mask = fill_in(object_of(id), *qp_attr);
    return *qp_attr_mask != 0 ? 0 : EINVAL;
  });
}

int rdma_create_srq_ex(struct rdma_cm_id* id, struct ibv_srq_init_attr_ex* attr) {
  return outcome_of([&] {
    IdObject& object = object_of(id);
    if (object.device == nullptr || id->srq != nullptr) return EINVAL;
    if ((attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) == 0 || attr->pd == nullptr) {
      attr->pd = id->pd;
      attr->comp_mask |= IBV_SRQ_INIT_ATTR_PD;
    }
    ibv_srq* const made = ibv_create_srq_ex(id->verbs, attr);
    if (made == nullptr) return errno;
    id->srq = made;
    id->pd = attr->pd;
    return 0;
  });
}

int rdma_create_srq(struct rdma_cm_id* id, struct ibv_pd* pd, struct ibv_srq_init_attr* attr) {
  ibv_srq_init_attr_ex attributes{};
  attributes.srq_context = attr->srq_context;
  attributes.attr = attr->attr;
  attributes.comp_mask =
      std::uint32_t{IBV_SRQ_INIT_ATTR_TYPE} | (pd != nullptr ? std::uint32_t{IBV_SRQ_INIT_ATTR_PD} : 0U);
  attributes.srq_type = IBV_SRQT_BASIC;
  attributes.pd = pd;
  const int outcome = rdma_create_srq_ex(id, &attributes);
  attr->attr = attributes.attr;
  return outcome;
}

void rdma_destroy_srq(struct rdma_cm_id* id) {
  if (id->srq != nullptr) (void)ibv_destroy_srq(id->srq);
  id->srq = nullptr;
}
