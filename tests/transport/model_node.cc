// SPDX-License-Identifier: BSD-2-Clause
#include "model_node.h"

#include <algorithm>
#include <stdexcept>

#include "sim/random.h"

namespace roce::model {

using transport::Access;
using transport::Sge;
using transport::VerbResult;
using transport::WorkOpcode;
// `QpState` here is the struct of a node.
using DeviceQpState = transport::QpState;

namespace {

template <typename T>
T must(VerbResult<T> result) {
  if (!result) throw std::logic_error("set-up: " + transport::to_string(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

constexpr Access kRemote = Access::remote_write | Access::remote_read | Access::remote_atomic | Access::flush_global |
                           Access::flush_persistent;

Gid gid_of(std::size_t device, std::uint8_t path) {
  const auto host = static_cast<std::uint8_t>(1 + device);
  if (path == 0) return transport::link_local_gid({{2, 0, 0, 0, 0, host}});
  if (path == 1) return Gid::from_ipv4({{10, 0, 0, host}});
  if (path == 3) return Gid::from_ipv4({{10, 0, 1, host}});
  Gid gid;
  gid.octets = {0x20, 0x01, 0x0D, 0xB8};
  gid.octets[15] = host;
  return gid;
}

transport::Device make_device(const Program& program, std::size_t index) {
  transport::DeviceConfig config;
  config.mac = {{2, 0, 0, 0, 0, static_cast<std::uint8_t>(1 + index)}};
  constexpr std::uint16_t vlan = 100;
  config.gids = {{.gid = gid_of(index, 0), .type = transport::GidType::roce_v1},
                 {.gid = gid_of(index, 1)},
                 {.gid = gid_of(index, 2)},
                 {.gid = gid_of(index, 3), .vlan_id = vlan}};
  config.profile = transport::profile_of(program.profile);
  config.profile.recovery = program.recovery;
  // If errors are not allowed, no number of losses in a row may cause one.
  config.profile.retry_count_7_is_infinite = !program.errors_allowed;
  config.limits = {.max_qp = 4, .max_mr = 64, .max_events = 64};
  config.first_qpn = index == 0 ? 0x11 : 0x101;
  return must(transport::Device::make(std::move(config), sim::Random{program.seed ^ (index << 32U)}));
}

}  // namespace

Node::Node(const Program& program, std::size_t index, Memory& memory)
    : program_(program), index_(index), device_(make_device(program, index)), qps_(program.qps.size()) {
  const transport::Pd pd = must(device_.create_pd());
  constexpr std::uint32_t completions_at_most = 256;
  send_cq_ = must(device_.create_cq(completions_at_most));
  receive_cq_ = must(device_.create_cq(completions_at_most));
  for (std::size_t q = 0; q < qps_.size(); ++q) {
    const QpPlan& plan = program.qps[q];
    QpState& qp = qps_[q];
    for (std::size_t area = 0; area < kAreas; ++area) {
      Access access = Access::local_write;
      bool invalidatable = false;
      if (static_cast<Area>(area) == Area::remote) access = access | kRemote | Access::mw_bind;
      if (static_cast<Area>(area) == Area::forbidden) access = access | Access::remote_read;
      if (static_cast<Area>(area) == Area::spare_own || static_cast<Area>(area) == Area::spare_peer) {
        access = access | kRemote;
        invalidatable = true;
      }
      // The addresses of areas are unrelated to each other, and none is the address of its memory.
      const std::uint64_t address = ((q * kAreas + area + 1) << 40U) + (area * 4096 + index * 64);
      qp.regions.at(area) = must(device_.register_memory(pd, {.memory = memory.area(index, q, static_cast<Area>(area)),
                                                              .access = access,
                                                              .address = address,
                                                              .invalidatable = invalidatable}));
      qp.infos.at(area) = must(device_.query_mr(qp.regions.at(area)));
    }
    qp.windows = {must(device_.create_mw(pd, transport::MwType::type1)),
                  must(device_.create_mw(pd, transport::MwType::type2))};
    constexpr std::uint32_t receives = 64;
    if (plan.with_srq) qp.srq = must(device_.create_srq(pd, receives, 2));
    qp.qpn = must(device_.create_qp({.pd = pd,
                                     .send_cq = send_cq_,
                                     .receive_cq = receive_cq_,
                                     .srq = qp.srq,
                                     .max_send = plan.max_send,
                                     .max_receive = receives,
                                     .max_send_sge = 3,
                                     .max_receive_sge = 2,
                                     .max_inline = 64}));
  }
}

void Node::connect(const Node& peer) {
  for (std::size_t q = 0; q < qps_.size(); ++q) {
    const QpPlan& plan = program_.qps[q];
    const Qpn qpn = qps_[q].qpn;
    const Time now{};
    const transport::AddressVector to_peer{
        .sgid_index = plan.path,
        .dgid = gid_of(1 - index_, plan.path),
        .destination_mac = MacAddress{{2, 0, 0, 0, 0, static_cast<std::uint8_t>(2 - index_)}}};
    must(device_.modify_qp(qpn, {.state = DeviceQpState::init, .p_key_index = 0, .port = 1, .access = kRemote}, now));
    must(device_.modify_qp(qpn,
                           {.state = DeviceQpState::rtr,
                            .address = to_peer,
                            .path_mtu = plan.mtu,
                            .dest_qp = peer.qps_[q].qpn,
                            .rq_psn = plan.first_psn.at(1 - index_),
                            .max_dest_rd_atomic = plan.rd_atomic,
                            .min_rnr_timer = plan.min_rnr_timer},
                           now));
    constexpr std::uint8_t endless = 7;
    transport::QpChange change{.state = DeviceQpState::rts,
                               .sq_psn = plan.first_psn.at(index_),
                               .max_rd_atomic = plan.rd_atomic,
                               .timeout = plan.timeout,
                               .retry_count = endless,
                               .rnr_retry = endless};
    if (plan.rate_limit_bps != 0) change.rate_limit_bps = plan.rate_limit_bps;
    must(device_.modify_qp(qpn, change, now));
    qps_[q].memory = must(device_.memory_of(qpn));
  }
}

transport::QpAttributes Node::attributes(std::size_t qp) const {
  return must(device_.query_qp(qps_[qp].qpn));
}

std::size_t Node::find(Qpn qpn) const {
  return static_cast<std::size_t>(std::ranges::find(qps_, qpn, &QpState::qpn) - qps_.begin());
}

std::uint64_t Node::address(std::size_t qp, Area area, std::uint32_t offset) const {
  return qps_[qp].infos.at(static_cast<std::size_t>(area)).address + offset;
}

RKey Node::key(std::size_t qp, Key which) const {
  if (which == Key::window1) return must(device_.query_mw(qps_[qp].windows[0]));
  if (which == Key::window2) return must(device_.query_mw(qps_[qp].windows[1]));
  return qps_[qp].infos.at(static_cast<std::size_t>(which)).r_key;
}

VerbResult<void> Node::post(std::size_t qp, const Work& op, const Node& peer) {
  const std::uint32_t spoiled = op.bad_key ? 1 : 0;
  std::vector<Sge> sges;
  sges.reserve(op.pieces.size());
  const bool is_send = op.opcode == WorkOpcode::send || op.opcode == WorkOpcode::send_with_immediate ||
                       op.opcode == WorkOpcode::send_with_invalidate;
  for (const Piece& piece : op.pieces) {
    const LKey l_key = qps_[qp].infos.at(static_cast<std::size_t>(Area::local)).l_key;
    sges.push_back(
        {address(qp, Area::local, piece.offset), piece.length, LKey{l_key.value() ^ (is_send ? spoiled : 0)}});
  }
  transport::SendRequest request{.wr_id = op.wr_id,
                                 .opcode = op.opcode,
                                 .signaled = op.signaled,
                                 .fence = op.fence,
                                 .solicited = op.solicited,
                                 .is_inline = op.is_inline,
                                 .sges = sges,
                                 .inline_data = op.inline_data,
                                 .immediate = op.immediate,
                                 .compare_add = op.compare_add,
                                 .swap = op.swap};
  const Area target = op.key == Key::forbidden ? Area::forbidden : Area::remote;
  request.remote.address = peer.address(qp, target, op.remote_offset);
  const Key remote_key = op.key == Key::spare_peer || op.key == Key::spare_own ? Key::remote : op.key;
  request.remote.r_key = RKey{peer.key(qp, remote_key).value() ^ spoiled};
  if (op.opcode == WorkOpcode::local_invalidate) request.invalidate = RKey{key(qp, op.key).value() ^ spoiled};
  if (op.opcode == WorkOpcode::send_with_invalidate) request.invalidate = peer.key(qp, op.key);
  if (op.opcode == WorkOpcode::flush) {
    constexpr std::uint32_t some = 16;
    request.flush = {.length = some, .whole_region = op.whole_region, .persistent = op.solicited};
  }
  if (op.opcode == WorkOpcode::bind_mw) {
    request.bind = {.mw = qps_[qp].windows.at(op.key == Key::window1 ? 0 : 1),
                    .mr = qps_[qp].regions.at(static_cast<std::size_t>(op.bad_key ? Area::forbidden : Area::remote)),
                    .address = address(qp, Area::remote, 0),
                    .length = op.bind_length,
                    .access = kRemote,
                    .variant = static_cast<std::uint8_t>(op.wr_id)};
  }
  return device_.post_send(qps_[qp].qpn, request);
}

VerbResult<void> Node::post(std::size_t qp, const Receive& receive) {
  std::vector<Sge> sges;
  for (const Piece& piece : receive.pieces) {
    sges.push_back({address(qp, Area::receive, piece.offset), piece.length,
                    qps_[qp].infos.at(static_cast<std::size_t>(Area::receive)).l_key});
  }
  const transport::ReceiveRequest request{.wr_id = receive.wr_id, .sges = sges};
  return qps_[qp].srq ? device_.post_srq_receive(*qps_[qp].srq, request) : device_.post_receive(qps_[qp].qpn, request);
}

void Node::begin_phase(std::size_t phase, Time now) {
  phase_ = phase;
  phase_start_ = now;
  for (QpState& qp : qps_) qp.next_send = qp.next_receive = 0;
}

bool Node::post_due(const Node& peer, Time now, std::string& failure) {
  bool posted = false;
  for (std::size_t q = 0; q < qps_.size(); ++q) {
    QpState& qp = qps_[q];
    const Side& plan = side(q);
    const auto is_due = [&](const std::vector<Action>& actions, std::size_t next) {
      return next < actions.size() && phase_start_ + Duration{actions[next].at_ns} <= now;
    };
    while (is_due(plan.receives_at, qp.next_receive)) {
      if (const VerbResult<void> result = post(q, plan.receives[qp.next_receive]); !result) {
        failure = "post_receive: " + transport::to_string(result.error());
        return posted;
      }
      ++qp.next_receive;
      ++qp.receives_posted;
      posted = true;
    }
    while (is_due(plan.sends_at, qp.next_send)) {
      if (const VerbResult<void> result = post(q, plan.operations[qp.next_send], peer); !result) {
        if (result.error().code == transport::VerbErrorCode::no_resources) break;
        failure = "post_send: " + transport::to_string(result.error());
        return posted;
      }
      ++qp.next_send;
      ++qp.sends_posted;
      posted = true;
    }
  }
  return posted;
}

Time Node::next_action(Time now) const {
  Time next = kNever;
  for (std::size_t q = 0; q < qps_.size(); ++q) {
    const auto look_at = [&](const std::vector<Action>& actions, std::size_t index) {
      if (index >= actions.size()) return;
      const Time at = phase_start_ + Duration{actions[index].at_ns};
      if (at > now) next = std::min(next, at);
    };
    look_at(side(q).sends_at, qps_[q].next_send);
    look_at(side(q).receives_at, qps_[q].next_receive);
  }
  return next;
}

bool Node::is_phase_over() const {
  for (std::size_t q = 0; q < qps_.size(); ++q) {
    if (qps_[q].next_send != side(q).operations.size() || qps_[q].next_receive != side(q).receives.size()) return false;
    if (attributes(q).sends_outstanding != 0) return false;
  }
  return true;
}

std::string Node::unfinished() const {
  std::string text;
  for (std::size_t q = 0; q < qps_.size(); ++q) {
    const transport::QpAttributes now = attributes(q);
    text += " device " + std::to_string(index_) + ", QP " + std::to_string(q) + " (" +
            std::string(transport::to_string(now.state)) + "): " + std::to_string(now.sends_outstanding) +
            " incomplete, " + std::to_string(side(q).operations.size() - qps_[q].next_send) + " sends and " +
            std::to_string(side(q).receives.size() - qps_[q].next_receive) + " receives not posted;";
  }
  return text;
}

bool Node::is_any_qp_in_error() const {
  for (std::size_t q = 0; q < qps_.size(); ++q) {
    if (attributes(q).state == DeviceQpState::err) return true;
  }
  return false;
}

void Node::force_error(Time now) {
  for (const QpState& qp : qps_) must(device_.modify_qp(qp.qpn, {.state = DeviceQpState::err}, now));
}

}  // namespace roce::model
