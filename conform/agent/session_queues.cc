// SPDX-License-Identifier: BSD-2-Clause
// The operations of the control protocol on queue pairs.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <utility>

#include "conform/agent/agent_names.h"
#include "conform/agent/agent_session.h"
#include "conform/agent/verbs_refusal.h"
#include "roce/live/control_names.h"
#include "roce/port/address_text.h"

namespace roce::conform {

namespace {

using live::number;
using live::Refusal;
using live::text;
using Json = nlohmann::json;

constexpr std::uint32_t kMaxQueue = 4096;
constexpr std::uint32_t kMaxPieces = 16;
constexpr std::uint8_t kHopLimit = 64;
constexpr unsigned kRemoteRights = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

[[nodiscard]] Gid gid_of(const Json& request) {
  const std::optional<Gid> gid = port::parse_ip(text(request, "gid"));
  if (!gid) throw Refusal("\"gid\" is no IP address");
  return *gid;
}

void modify(std::string_view operation, AgentQp& qp, ibv_qp_attr& attributes, unsigned mask) {
  const int error = ibv_modify_qp(qp.qp.get(), &attributes, static_cast<int>(mask));
  const bool to_state = (mask & IBV_QP_STATE) != 0;
  check(operation, to_state ? fmt::format("ibv_modify_qp to {}", to_text(attributes.qp_state)) : "ibv_modify_qp",
        error);
}

/// The attributes of a queue pair that a request changes, and the mask that names them.
class Change {
 public:
  explicit Change(const Json& request) : request_(request) {}

  /// Takes a number of the request, if it is there.
  template <typename T>
  void take(const char* name, std::uint64_t largest, T& attribute, unsigned bit) {
    if (!request_.contains(name)) return;
    attribute = number<T>(request_, name, 0, largest);
    mask |= bit;
  }

  ibv_qp_attr attributes{};
  unsigned mask = 0;

 private:
  const Json& request_;
};

}  // namespace

AgentQp& AgentSession::qp_of(const Json& request) {
  const auto found = objects_.qps.find(number<std::uint32_t>(request, "qp", 0, Qpn::kMax));
  if (found == objects_.qps.end()) throw Refusal("\"qp\" was not made by this connection");
  return found->second;
}

ibv_ah_attr AgentSession::address_of(const Gid& gid) const {
  ibv_ah_attr address{};
  address.is_global = 1;
  address.port_num = device_.port();
  std::ranges::copy(gid.octets, address.grh.dgid.raw);
  address.grh.sgid_index = device_.gid_index();
  address.grh.hop_limit = kHopLimit;
  return address;
}

AgentSession::Answer AgentSession::create_qp(const Json& request) {
  const std::string type = text(request, "type");
  AgentQp qp{.ah = nullptr, .qp = nullptr, .type = qp_type_of(type)};
  need(type);
  ibv_qp_init_attr init{};
  init.qp_type = qp.type;
  init.send_cq = &cq_of(request, "send_cq");
  init.recv_cq = &cq_of(request, "receive_cq");
  init.cap.max_send_wr = number<std::uint32_t>(request, "max_send", 1, kMaxQueue, 64);
  init.cap.max_recv_wr = number<std::uint32_t>(request, "max_receive", 1, kMaxQueue, 64);
  init.cap.max_send_sge = init.cap.max_recv_sge = number<std::uint32_t>(request, "max_pieces", 1, kMaxPieces, 1);
  const ibv_qp_state state = request.contains("state") ? state_of(text(request, "state")) : IBV_QPS_INIT;
  if (state != IBV_QPS_RESET && state != IBV_QPS_INIT) throw Refusal("\"state\" of a new queue pair is RESET or INIT");
  const auto q_key = number<std::uint32_t>(request, "q_key", 0, UINT32_MAX, live::kControlQKey);
  if (limits_.qps >= limits_.max_qps) {
    throw Refusal(fmt::format("there are {} queue pairs; start roce-agent with a larger --max-qp", limits_.qps));
  }
  if (request.contains("srq")) init.srq = &srq_of(request);
  qp.qp.reset(ibv_create_qp(&pd_of(request), &init));
  if (!qp.qp) refuse("create_qp", "ibv_create_qp", errno);
  if (state == IBV_QPS_INIT) {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_INIT;
    attributes.port_num = device_.port();
    attributes.qkey = q_key;
    attributes.qp_access_flags = kRemoteRights;
    if (device_.has("atomics")) attributes.qp_access_flags |= IBV_ACCESS_REMOTE_ATOMIC;
    modify(
        "create_qp", qp, attributes,
        IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | (qp.type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));
  }
  const std::uint32_t qpn = qp.qp->qp_num;
  objects_.qps.emplace(qpn, std::move(qp));
  ++limits_.qps;
  std::random_device random;
  return {{"qp", qpn}, {"psn", random() & Psn::kMax}};
}

AgentSession::Answer AgentSession::connect_qp(const Json& request) {
  AgentQp& qp = qp_of(request);
  const Gid gid = gid_of(request);
  const auto at_most_here = [](int device, std::uint8_t wanted) {
    return static_cast<std::uint8_t>(std::clamp(device, 0, int{wanted}));
  };
  constexpr std::uint8_t kReadsAndAtomics = 16;
  const ibv_device_attr& device = device_.attributes();
  ibv_qp_attr rtr{};
  rtr.qp_state = IBV_QPS_RTR;
  rtr.ah_attr = address_of(gid);
  rtr.dest_qp_num = number<std::uint32_t>(request, "remote_qp", 0, Qpn::kMax, 0);
  rtr.rq_psn = number<std::uint32_t>(request, "remote_psn", 0, Psn::kMax, 0);
  rtr.path_mtu = path_mtu_of(number<std::uint32_t>(request, "path_mtu", 256, device_.max_path_mtu(), 1024));
  // Without `rd_atomic` in the request, the QP gets as much as the device has.
  rtr.max_dest_rd_atomic =
      number<std::uint8_t>(request, "rd_atomic", 0, 128, at_most_here(device.max_qp_rd_atom, kReadsAndAtomics));
  rtr.min_rnr_timer = 12;
  ibv_qp_attr rts{};
  rts.qp_state = IBV_QPS_RTS;
  rts.sq_psn = number<std::uint32_t>(request, "psn", 0, Psn::kMax);
  rts.timeout = number<std::uint8_t>(request, "timeout", 0, 31, 14);
  rts.retry_cnt = number<std::uint8_t>(request, "retry_count", 0, 7, 7);
  rts.rnr_retry = number<std::uint8_t>(request, "rnr_retry", 0, 7, 7);
  rts.max_rd_atomic =
      number<std::uint8_t>(request, "rd_atomic", 0, 128, at_most_here(device.max_qp_init_rd_atom, kReadsAndAtomics));
  unsigned rtr_mask = IBV_QP_STATE;
  unsigned rts_mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
  if (qp.type != IBV_QPT_UD) rtr_mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  if (qp.type == IBV_QPT_RC) {
    rtr_mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    rts_mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  }
  if (qp.type == IBV_QPT_UD && !qp.ah) {
    qp.ah.reset(ibv_create_ah(qp.qp->pd, &rtr.ah_attr));
    if (!qp.ah) refuse("connect_qp", "ibv_create_ah", errno);
  }
  modify("connect_qp", qp, rtr, rtr_mask);
  modify("connect_qp", qp, rts, rts_mask);
  return {};
}

AgentSession::Answer AgentSession::modify_qp(const Json& request) {
  AgentQp& qp = qp_of(request);
  Change change{request};
  ibv_qp_attr& to = change.attributes;
  if (request.contains("access")) {
    to.qp_access_flags = access_of(request) & ~static_cast<unsigned>(IBV_ACCESS_LOCAL_WRITE);
    change.mask |= IBV_QP_ACCESS_FLAGS;
  }
  if (request.contains("gid")) {
    to.ah_attr = address_of(gid_of(request));
    to.ah_attr.sl = number<std::uint8_t>(request, "service_level", 0, 7, 0);
    change.mask |= IBV_QP_AV;
  } else if (request.contains("service_level")) {
    throw Refusal("\"service_level\" needs \"gid\" beside it: both belong to the address");
  }
  if (request.contains("path_mtu")) {
    to.path_mtu = path_mtu_of(number<std::uint32_t>(request, "path_mtu", 0, UINT32_MAX));
    change.mask |= IBV_QP_PATH_MTU;
  }
  change.take("dest_qp", Qpn::kMax, to.dest_qp_num, IBV_QP_DEST_QPN);
  change.take("rq_psn", Psn::kMax, to.rq_psn, IBV_QP_RQ_PSN);
  change.take("sq_psn", Psn::kMax, to.sq_psn, IBV_QP_SQ_PSN);
  change.take("max_rd_atomic", 128, to.max_rd_atomic, IBV_QP_MAX_QP_RD_ATOMIC);
  change.take("max_dest_rd_atomic", 128, to.max_dest_rd_atomic, IBV_QP_MAX_DEST_RD_ATOMIC);
  change.take("min_rnr_timer", 31, to.min_rnr_timer, IBV_QP_MIN_RNR_TIMER);
  change.take("timeout", 31, to.timeout, IBV_QP_TIMEOUT);
  change.take("retry_count", 7, to.retry_cnt, IBV_QP_RETRY_CNT);
  change.take("rnr_retry", 7, to.rnr_retry, IBV_QP_RNR_RETRY);
  change.take("q_key", UINT32_MAX, to.qkey, IBV_QP_QKEY);
  change.take("p_key_index", UINT16_MAX, to.pkey_index, IBV_QP_PKEY_INDEX);
  if (request.contains("state")) {
    to.qp_state = state_of(text(request, "state"));
    change.mask |= IBV_QP_STATE;
    if (to.qp_state == IBV_QPS_INIT) {
      // The port is the agent's, and a P_Key that nobody chose is the first.
      to.port_num = device_.port();
      change.mask |= IBV_QP_PORT | IBV_QP_PKEY_INDEX;
    }
  }
  if (request.contains("sq_drained_notify")) {
    to.en_sqd_async_notify = live::flag(request, "sq_drained_notify") ? 1 : 0;
    change.mask |= IBV_QP_EN_SQD_ASYNC_NOTIFY;
  }
  modify("modify_qp", qp, to, change.mask);
  return {};
}

AgentSession::Answer AgentSession::qp_status(const Json& request) {
  AgentQp& qp = qp_of(request);
  ibv_qp_attr attributes{};
  ibv_qp_init_attr init{};
  check("qp_status", "ibv_query_qp", ibv_query_qp(qp.qp.get(), &attributes, IBV_QP_STATE | IBV_QP_DEST_QPN, &init));
  return {{"state", to_text(attributes.qp_state)}, {"remote_qp", attributes.dest_qp_num}, {"connection", "none"}};
}

AgentSession::Answer AgentSession::destroy_qp(const Json& request) {
  AgentQp& qp = qp_of(request);
  const std::uint32_t qpn = qp.qp->qp_num;
  check("destroy_qp", "ibv_destroy_qp", ibv_destroy_qp(qp.qp.get()));
  (void)qp.qp.release();
  if (cm_ != nullptr) cm_->forget(qpn);
  objects_.qps.erase(qpn);
  --limits_.qps;
  return {};
}

}  // namespace roce::conform
