// SPDX-License-Identifier: BSD-2-Clause
// The operations of the control protocol on queue pairs.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "live/carried_out.h"
#include "roce/congestion/choice.h"
#include "roce/live/congestion_report.h"
#include "roce/live/control_names.h"
#include "roce/live/control_session.h"
#include "roce/port/address_text.h"

namespace roce::live {

namespace {

using transport::Access;
using transport::QpState;
using transport::QpType;

constexpr std::uint32_t kMaxQueue = 4096;

[[nodiscard]] std::string name_of(CmAcceptor::State state) {
  switch (state) {
    case CmAcceptor::State::none:
      break;
    case CmAcceptor::State::waiting:
      return "waiting";
    case CmAcceptor::State::connected:
      return "connected";
    case CmAcceptor::State::over:
      return "over";
  }
  return "none";
}

/// Returns the congestion control that a request asks for; nothing if it does not ask.
[[nodiscard]] std::optional<congestion::Choice> congestion_of(const nlohmann::json& request) {
  if (!request.contains("congestion")) return std::nullopt;
  tl::expected<congestion::Choice, std::string> choice = congestion::parse_choice(text(request, "congestion"));
  if (!choice) throw Refusal("\"congestion\": " + choice.error());
  return *choice;
}

}  // namespace

CmAcceptor& ControlSession::acceptor() {
  if (acceptor_) return *acceptor_;
  throw Refusal(
      fmt::format("RDMA CM is with shard 0, and this is shard {}; leave \"shard\" out of hello", terms_.shard));
}

Qpn ControlSession::qp_of(const Json& request) const {
  const Qpn qpn{number<std::uint32_t>(request, "qp", 0, Qpn::kMax)};
  if (!qps_.contains(qpn)) throw Refusal("\"qp\" was not made by this connection");
  return qpn;
}

ControlSession::Answer ControlSession::create_qp(const Json& request, Time now) {
  const QpType type = qp_type_of(text(request, "type"));
  transport::QpInit init;
  init.type = type;
  init.pd = object_of<transport::Pd>(pds_, request, "pd", pd_);
  init.send_cq = object_of<transport::Cq>(cqs_, request, "send_cq", cq_);
  init.receive_cq = object_of<transport::Cq>(cqs_, request, "receive_cq", cq_);
  init.max_send = number<std::uint32_t>(request, "max_send", 1, kMaxQueue, 64);
  init.max_receive = number<std::uint32_t>(request, "max_receive", 1, kMaxQueue, 64);
  if (request.contains("srq")) init.srq = object_of(srqs_, request, "srq");
  init.max_send_sge = init.max_receive_sge = number<std::uint8_t>(request, "max_pieces", 1, 16, 1);
  const QpState state = request.contains("state") ? state_of(text(request, "state")) : QpState::init;
  if (state != QpState::init && state != QpState::reset) throw Refusal("\"state\" is RESET or INIT for a new QP");
  const Qpn qpn = carried_out(device_.create_qp(init), "create_qp");
  qps_.emplace(qpn, QueuePair{type, init.pd, request.contains("receive_cq"), init.srq.has_value()});
  endpoint_.adopt(qpn);
  const Psn psn = endpoint_.random().psn();
  Answer answer{{"qp", qpn.value()}, {"psn", psn.value()}};
  if (state == QpState::reset) return answer;
  transport::QpChange change{.state = QpState::init, .p_key_index = 0, .port = 1};
  if (type == QpType::ud) {
    change.q_key = QKey{number<std::uint32_t>(request, "q_key", 0, 0xFFFF'FFFF, kControlQKey)};
  } else {
    change.access = Access::remote_write | Access::remote_read | Access::remote_atomic | Access::flush_global |
                    Access::flush_persistent;
  }
  carried_out(device_.modify_qp(qpn, change, now), "create_qp");
  return answer;
}

ControlSession::Answer ControlSession::modify_qp(const Json& request, Time now) {
  const auto take = [&request]<typename T>(std::optional<T>& to, const char* name, std::uint64_t most) {
    if (request.contains(name)) to = T(number<std::uint32_t>(request, name, 0, most));
  };
  transport::QpChange change;
  if (request.contains("state")) change.state = state_of(text(request, "state"));
  if (change.state == QpState::init) {
    change.port = 1;
    change.p_key_index = 0;
  }
  if (request.contains("access")) change.access = rights_of(request);
  if (request.contains("gid")) {
    const std::optional<Gid> gid = port::parse_ip(text(request, "gid"));
    if (!gid) throw Refusal("\"gid\" is no IP address");
    change.address = transport::AddressVector{.sgid_index = endpoint_.sgid_index(), .dgid = *gid};
  }
  if (request.contains("service_level")) {
    if (!change.address) throw Refusal("\"service_level\" needs \"gid\" beside it: both belong to the address");
    take(change.address->service_level, "service_level", 7);
  }
  take(change.path_mtu, "path_mtu", endpoint_.max_path_mtu());
  take(change.dest_qp, "dest_qp", Qpn::kMax);
  take(change.rq_psn, "rq_psn", Psn::kMax);
  take(change.sq_psn, "sq_psn", Psn::kMax);
  take(change.max_rd_atomic, "max_rd_atomic", 128);
  take(change.max_dest_rd_atomic, "max_dest_rd_atomic", 128);
  take(change.min_rnr_timer, "min_rnr_timer", 31);
  take(change.timeout, "timeout", 31);
  take(change.retry_count, "retry_count", 7);
  take(change.rnr_retry, "rnr_retry", 7);
  take(change.q_key, "q_key", UINT32_MAX);
  take(change.p_key_index, "p_key_index", UINT16_MAX);
  if (request.contains("sq_drained_notify")) change.sq_drained_notify = flag(request, "sq_drained_notify");
  const Qpn qpn = qp_of(request);
  const std::optional<congestion::Choice> congestion = congestion_of(request);
  if (congestion) {
    const QpState to = change.state.value_or(carried_out(device_.query_qp(qpn), "modify_qp").state);
    if (to != QpState::rts && to != QpState::sqd) throw Refusal("\"congestion\" needs the state RTS or SQD");
  }
  carried_out(device_.modify_qp(qpn, change, now), "modify_qp");
  if (congestion) {
    carried_out(device_.set_congestion_control(qpn, congestion::make_control(*congestion), now), "modify_qp");
  }
  return {};
}

ControlSession::Answer ControlSession::create_cq(const Json& request, Time) {
  const std::uint32_t id = next_object_++;
  cqs_.emplace(id, carried_out(device_.create_cq(number<std::uint32_t>(request, "size", 1, 65536)), "create_cq"));
  return {{"cq", id}};
}

ControlSession::Answer ControlSession::arm_cq(const Json& request, Time) {
  carried_out(device_.request_notify(object_of(cqs_, request, "cq"), flag(request, "solicited")), "arm_cq");
  return {};
}

ControlSession::Answer ControlSession::destroy_cq(const Json& request, Time) {
  carried_out(device_.destroy_cq(object_of(cqs_, request, "cq")), "destroy_cq");
  cqs_.erase(number<std::uint32_t>(request, "cq", 0, UINT32_MAX));
  return {};
}

ControlSession::Answer ControlSession::connect_qp(const Json& request, Time now) {
  const Qpn qpn = qp_of(request);
  const QpType type = qps_.at(qpn).type;
  const std::optional<Gid> gid = port::parse_ip(text(request, "gid"));
  if (!gid) throw Refusal("\"gid\" is no IP address");
  ConnectOptions options;
  options.sgid_index = endpoint_.sgid_index();
  options.gid = *gid;
  options.remote_qp = Qpn{number<std::uint32_t>(request, "remote_qp", 0, Qpn::kMax, 0)};
  options.remote_psn = Psn{number<std::uint32_t>(request, "remote_psn", 0, Psn::kMax, 0)};
  options.psn = Psn{number<std::uint32_t>(request, "psn", 0, Psn::kMax)};
  options.path_mtu = number<std::uint32_t>(request, "path_mtu", 256, endpoint_.max_path_mtu(), 1024);
  options.timeout = number<std::uint8_t>(request, "timeout", 0, 31, 14);
  options.retry_count = number<std::uint8_t>(request, "retry_count", 0, 7, 7);
  options.rnr_retry = number<std::uint8_t>(request, "rnr_retry", 0, 7, 7);
  options.rd_atomic = number<std::uint8_t>(request, "rd_atomic", 0, 128, 16);
  const std::optional<congestion::Choice> congestion = congestion_of(request);
  carried_out(connect(device_, qpn, type, options, now), "connect_qp");
  if (congestion) {
    carried_out(device_.set_congestion_control(qpn, congestion::make_control(*congestion), now), "connect_qp");
  }
  if (type == QpType::ud && !ahs_.contains(qpn)) {
    ahs_[qpn] = carried_out(device_.create_ah(qps_.at(qpn).pd, {.sgid_index = options.sgid_index, .dgid = options.gid}),
                            "connect_qp");
  }
  return {};
}

ControlSession::Answer ControlSession::accept_qp(const Json& request, Time now) {
  const Qpn qpn = qp_of(request);
  CmAcceptor::Terms terms;
  terms.rd_atomic = number<std::uint8_t>(request, "rd_atomic", 0, 128, 16);
  terms.rnr_retry = number<std::uint8_t>(request, "rnr_retry", 0, 7, 7);
  const auto port = number<std::uint16_t>(request, "cm_port", 1, UINT16_MAX);
  if (qps_.at(qpn).type == QpType::ud) {
    const transport::QpAttributes attributes = carried_out(device_.query_qp(qpn), "accept_qp");
    terms.q_key = attributes.q_key;
    if (attributes.state == QpState::init) carried_out(connect(device_, qpn, QpType::ud, {}, now), "accept_qp");
  }
  acceptor().accept(qpn, port, terms);
  return {};
}

ControlSession::Answer ControlSession::reject_next(const Json& request, Time) {
  acceptor().refuse(number<std::uint16_t>(request, "cm_port", 1, UINT16_MAX));
  return {};
}

ControlSession::Answer ControlSession::qp_status(const Json& request, Time now) {
  const Qpn qpn = qp_of(request);
  const transport::QpAttributes attributes = carried_out(device_.query_qp(qpn), "qp_status");
  Answer answer{{"state", std::string{to_string(attributes.state)}},
                {"remote_qp", attributes.dest_qp.value()},
                {"connection", name_of(acceptor_ ? acceptor_->state(qpn) : CmAcceptor::State::none)}};
  if (const auto reading = carried_out(device_.congestion_reading(qpn, now), "qp_status")) {
    answer["congestion"] = to_json(*reading);
  }
  return answer;
}

ControlSession::Answer ControlSession::destroy_qp(const Json& request, Time) {
  const Qpn qpn = qp_of(request);
  if (acceptor_) acceptor_->forget(qpn);
  carried_out(device_.destroy_qp(qpn), "destroy_qp");
  if (const auto ah = ahs_.find(qpn); ah != ahs_.end()) {
    (void)device_.destroy_ah(ah->second);
    ahs_.erase(ah);
  }
  sinks_.remove(qpn);
  qps_.erase(qpn);
  return {};
}

}  // namespace roce::live
