// SPDX-License-Identifier: BSD-2-Clause
// The attributes of queue pairs: changed and asked for.
#include <bit>

#include "verbs/ibverbs/address.h"
#include "verbs/ibverbs/objects.h"
#include "verbs/ibverbs/results.h"

namespace roce::verbs {

namespace {

constexpr std::uint32_t kSmallestMtu = 256;
constexpr std::uint32_t k24Bits = 0xFF'FFFF;
constexpr unsigned kRemoteRights = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
constexpr int kKnown = IBV_QP_STATE | IBV_QP_CUR_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY | IBV_QP_ACCESS_FLAGS |
                       IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_TIMEOUT |
                       IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_RQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC |
                       IBV_QP_MIN_RNR_TIMER | IBV_QP_SQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_DEST_QPN |
                       IBV_QP_RATE_LIMIT;

static_assert(static_cast<int>(transport::QpState::err) == IBV_QPS_ERR);
static_assert(static_cast<int>(transport::QpState::sqd) == IBV_QPS_SQD);
[[nodiscard]] bool is_state(ibv_qp_state state) {
  return state >= IBV_QPS_RESET && state <= IBV_QPS_ERR;
}

[[nodiscard]] std::uint64_t bits_per_second(std::uint32_t kilobits) {
  return std::uint64_t{kilobits} * 1000;
}

void set_limits(const ibv_qp_attr& from, int mask, transport::QpChange& to) {
  if ((mask & IBV_QP_MAX_QP_RD_ATOMIC) != 0) to.max_rd_atomic = from.max_rd_atomic;
  if ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) != 0) to.max_dest_rd_atomic = from.max_dest_rd_atomic;
  if ((mask & IBV_QP_MIN_RNR_TIMER) != 0) to.min_rnr_timer = from.min_rnr_timer;
  if ((mask & IBV_QP_TIMEOUT) != 0) to.timeout = from.timeout;
  if ((mask & IBV_QP_RETRY_CNT) != 0) to.retry_count = from.retry_cnt;
  if ((mask & IBV_QP_RNR_RETRY) != 0) to.rnr_retry = from.rnr_retry;
  if ((mask & IBV_QP_RATE_LIMIT) != 0) to.rate_limit_bps = bits_per_second(from.rate_limit);
}

[[nodiscard]] OrErrno<transport::QpChange> change_of(const ibv_qp_attr& from, int mask) {
  transport::QpChange to;
  if ((mask & ~kKnown) != 0)
    return refused((mask & (IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE)) != 0 ? EOPNOTSUPP : EINVAL);
  if ((mask & IBV_QP_STATE) != 0) {
    if (!is_state(from.qp_state)) return refused(EINVAL);
    to.state = static_cast<transport::QpState>(from.qp_state);
  }
  if ((mask & IBV_QP_CUR_STATE) != 0) {
    if (!is_state(from.cur_qp_state)) return refused(EINVAL);
    to.current_state = static_cast<transport::QpState>(from.cur_qp_state);
  }
  if ((mask & IBV_QP_EN_SQD_ASYNC_NOTIFY) != 0) to.sq_drained_notify = from.en_sqd_async_notify != 0;
  if ((mask & IBV_QP_ACCESS_FLAGS) != 0)
    to.access = static_cast<transport::Access>(from.qp_access_flags & kRemoteRights);
  if ((mask & IBV_QP_PKEY_INDEX) != 0) to.p_key_index = from.pkey_index;
  if ((mask & IBV_QP_PORT) != 0) to.port = from.port_num;
  if ((mask & IBV_QP_QKEY) != 0) to.q_key = QKey{from.qkey};
  if ((mask & IBV_QP_AV) != 0) {
    const auto address = address_of(from.ah_attr);
    if (!address) return refused(address.error());
    to.address = *address;
  }
  if ((mask & IBV_QP_PATH_MTU) != 0) {
    if (from.path_mtu < IBV_MTU_256 || from.path_mtu > IBV_MTU_4096) return refused(EINVAL);
    to.path_mtu = kSmallestMtu << (from.path_mtu - IBV_MTU_256);
  }
  if ((mask & IBV_QP_DEST_QPN) != 0) to.dest_qp = Qpn{from.dest_qp_num & k24Bits};
  if ((mask & IBV_QP_RQ_PSN) != 0) to.rq_psn = Psn{from.rq_psn & k24Bits};
  if ((mask & IBV_QP_SQ_PSN) != 0) to.sq_psn = Psn{from.sq_psn & k24Bits};
  set_limits(from, mask, to);
  return to;
}

void write(const transport::QpAttributes& from, const QpObject& qp, ibv_qp_attr& to) {
  to = {};
  to.qp_state = to.cur_qp_state = static_cast<ibv_qp_state>(from.state);
  to.path_mtu = from.path_mtu == 0 ? IBV_MTU_256
                                   : static_cast<ibv_mtu>(IBV_MTU_256 + std::countr_zero(from.path_mtu / kSmallestMtu));
  to.path_mig_state = IBV_MIG_MIGRATED;
  to.qkey = from.q_key.value();
  to.rq_psn = from.rq_psn.value();
  to.sq_psn = from.sq_psn.value();
  to.dest_qp_num = from.dest_qp.value();
  to.qp_access_flags = static_cast<unsigned>(from.access);
  to.cap = qp.made_with.cap;
  to.ah_attr = attributes_of(from.address, from.service_level);
  to.pkey_index = from.p_key_index;
  to.sq_draining = from.sq_draining ? 1 : 0;
  to.max_rd_atomic = from.max_rd_atomic;
  to.max_dest_rd_atomic = from.max_dest_rd_atomic;
  to.min_rnr_timer = from.min_rnr_timer;
  to.port_num = 1;
  to.timeout = from.timeout;
  to.retry_cnt = from.retry_count;
  to.rnr_retry = from.rnr_retry;
  to.rate_limit = static_cast<std::uint32_t>(from.rate_limit_bps / bits_per_second(1));
}

}  // namespace
}  // namespace roce::verbs

using namespace roce;
using namespace roce::verbs;

int ibv_modify_qp(struct ibv_qp* qp, struct ibv_qp_attr* attributes, int mask) {
  return status_of([&] {
    QpObject& object = object_of(qp);
    if (const int error = error_of(object); error != 0) return error;
    const auto change = change_of(*attributes, mask);
    if (!change) return change.error();
    const int refusal = errno_of(object.engine->use(
        [&](transport::Device& device, Time now) { return device.modify_qp(object.qpn, *change, now); }));
    if (refusal == 0 && change->state) qp->state = attributes->qp_state;
    return refusal;
  });
}

int ibv_query_qp(struct ibv_qp* qp, struct ibv_qp_attr* attributes, int /*mask*/, struct ibv_qp_init_attr* init) {
  return status_of([&] {
    QpObject& object = object_of(qp);
    if (const int error = error_of(object); error != 0) return error;
    const auto known = object.engine->use([&](transport::Device& device, Time) { return device.query_qp(object.qpn); });
    if (!known) return errno_of(known.error());
    write(*known, object, *attributes);
    *init = object.made_with;
    qp->state = attributes->qp_state;
    return 0;
  });
}

int ibv_query_qp_data_in_order(struct ibv_qp* /*qp*/, enum ibv_wr_opcode /*opcode*/, uint32_t /*flags*/) {
  return 0;
}

int ibv_set_ece(struct ibv_qp* /*qp*/, struct ibv_ece* ece) {
  return status_of([&] { return ece->vendor_id == 0 && ece->options == 0 ? 0 : EOPNOTSUPP; });
}

int ibv_query_ece(struct ibv_qp* /*qp*/, struct ibv_ece* ece) {
  *ece = {};
  return 0;
}
