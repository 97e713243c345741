// SPDX-License-Identifier: BSD-2-Clause
#include "sim/endpoint.h"

#include <array>

namespace roce::sim {

using transport::Completion;
using transport::QpChange;
using transport::QpState;
using transport::QpType;
using transport::Sge;
using transport::VerbResult;

Endpoint::Endpoint(const Host& host, const Options& options) : host_(host) {
  if (options.outside_memory.empty()) {
    own_memory_.resize(options.memory);
    memory_ = own_memory_;
  } else {
    memory_ = options.outside_memory;
  }
  pd_ = options.pd ? *options.pd : must(device().create_pd());
  send_cq_ = must(device().create_cq(options.cq_capacity));
  receive_cq_ = must(device().create_cq(options.cq_capacity));
  constexpr std::uint8_t sges = 4;
  srq_ = options.srq;
  if (options.with_srq) srq_ = must(device().create_srq(pd_, options.max_receive, sges));
  constexpr std::uint64_t first_address = 0x10'0000'0000;
  mr_ = must(device().register_memory(pd_, {.memory = memory_,
                                            .access = options.access,
                                            .address = first_address + (std::uint64_t{host.node()} << 36U),
                                            .invalidatable = options.invalidatable}));
  info_ = must(device().query_mr(mr_));
  qpn_ = must(device().create_qp({.type = options.type,
                                  .pd = pd_,
                                  .send_cq = send_cq_,
                                  .receive_cq = receive_cq_,
                                  .srq = srq_,
                                  .max_send = options.max_send,
                                  .max_receive = options.max_receive,
                                  .max_send_sge = sges,
                                  .max_receive_sge = sges,
                                  .max_inline = options.max_inline,
                                  .signal_all = options.signal_all}));
}

VerbResult<void> Endpoint::try_post(const Work& work) {
  const std::array<Sge, 1> sges{Sge{address(work.local), work.length, work.l_key.value_or(info_.l_key)}};
  transport::SendRequest request{.wr_id = work.id,
                                 .opcode = work.opcode,
                                 .signaled = work.signaled,
                                 .fence = work.fence,
                                 .solicited = work.solicited,
                                 .is_inline = work.is_inline,
                                 .immediate = work.immediate,
                                 .invalidate = work.invalidate,
                                 .compare_add = work.compare_add,
                                 .swap = work.swap,
                                 .flush = work.flush,
                                 .datagram = work.datagram,
                                 .bind = work.bind};
  request.xrc_srq = work.xrc_srq;
  if (peer_ != nullptr) {
    request.remote = {.address = peer_->address(work.remote), .r_key = work.r_key.value_or(peer_->info_.r_key)};
  }
  if (work.is_inline) {
    request.inline_data = memory(work.local, work.length);
  } else if (work.length != 0) {
    request.sges = sges;
  }
  return device().post_send(qpn_, request);
}

std::uint64_t Endpoint::post(const Work& work) {
  Work numbered = work;
  if (numbered.id == 0) numbered.id = next_id_++;
  must(try_post(numbered));
  return numbered.id;
}

VerbResult<void> Endpoint::try_receive(std::uint64_t offset, std::uint32_t length, std::uint64_t id,
                                       std::optional<LKey> l_key) {
  const std::array<Sge, 1> sges{Sge{address(offset), length, l_key.value_or(info_.l_key)}};
  const transport::ReceiveRequest request{.wr_id = id, .sges = sges};
  return srq_ ? device().post_srq_receive(*srq_, request) : device().post_receive(qpn_, request);
}

void Endpoint::post_receive(std::uint64_t offset, std::uint32_t length, std::uint64_t id) {
  must(try_receive(offset, length, id != 0 ? id : next_receive_id_++));
}

void Endpoint::modify(const QpChange& change) {
  must(device().modify_qp(qpn_, change, host_.network().now()));
}

void Endpoint::drain(transport::Cq cq, std::vector<Completion>& to) {
  std::array<Completion, 16> some{};
  for (;;) {
    const std::size_t count = device().poll_cq(cq, some);
    if (count == 0) return;
    to.insert(to.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(count));
  }
}

std::vector<Completion>& Endpoint::sent() {
  drain(send_cq_, sent_);
  return sent_;
}

std::vector<Completion>& Endpoint::received() {
  drain(receive_cq_, received_);
  return received_;
}

void Endpoint::clear_completions() {
  sent().clear();
  received().clear();
}

QpChange to_init(const Connection& connection, QpType type) {
  QpChange change{.state = QpState::init, .p_key_index = 0, .port = 1};
  if (type == QpType::rc || type == QpType::uc) {
    change.access = connection.access;
  } else {
    change.q_key = kQKey;
  }
  if (type == QpType::gsi) change.q_key = QKey{0x80010000};
  return change;
}

namespace {

transport::AddressVector address_vector(const Connection& connection, const Host& peer) {
  return {.sgid_index = Host::gid_index(connection.path),
          .dgid = peer.gid(connection.path),
          .traffic_class = connection.traffic_class,
          .service_level = connection.service_level,
          .flow_label = connection.flow_label};
}

}  // namespace

QpChange to_rtr(const Connection& connection, const Endpoint& peer, Psn peer_psn, QpType type) {
  QpChange change{.state = QpState::rtr};
  if (type != QpType::rc && type != QpType::uc) return change;
  change.address = address_vector(connection, peer.host());
  change.path_mtu = connection.mtu;
  change.dest_qp = peer.qpn();
  change.rq_psn = peer_psn;
  if (type == QpType::rc) {
    change.max_dest_rd_atomic = connection.rd_atomic;
    change.min_rnr_timer = connection.min_rnr_timer;
  }
  return change;
}

QpChange to_rts(const Connection& connection, Psn psn, QpType type) {
  QpChange change{.state = QpState::rts, .sq_psn = psn};
  if (type == QpType::rc) {
    change.max_rd_atomic = connection.rd_atomic;
    change.timeout = connection.timeout;
    change.retry_count = connection.retry_count;
    change.rnr_retry = connection.rnr_retry;
  }
  if (connection.rate_limit_bps != 0) change.rate_limit_bps = connection.rate_limit_bps;
  return change;
}

void connect(Endpoint& a, Endpoint& b, const Connection& connection) {
  const QpType type = must(a.device().query_qp(a.qpn())).type;
  a.set_peer(b);
  b.set_peer(a);
  a.modify(to_init(connection, type));
  b.modify(to_init(connection, type));
  a.modify(to_rtr(connection, b, connection.b_psn, type));
  b.modify(to_rtr(connection, a, connection.a_psn, type));
  a.modify(to_rts(connection, connection.a_psn, type));
  b.modify(to_rts(connection, connection.b_psn, type));
}

void start(Endpoint& endpoint, const Connection& connection) {
  const QpType type = must(endpoint.device().query_qp(endpoint.qpn())).type;
  endpoint.modify(to_init(connection, type));
  endpoint.modify({.state = QpState::rtr});
  endpoint.modify(to_rts(connection, connection.a_psn, type));
}

transport::Ah address_of(const Endpoint& a, const Host& b, const Connection& connection) {
  return must(a.device().create_ah(a.pd(), address_vector(connection, b)));
}

Pair::Options Pair::with(const transport::Profile& profile) {
  Options options;
  options.a_host.profile = profile;
  return options;
}

Pair::Pair(const Options& options)
    : network(options.seed),
      a_host(network, options.a_host),
      b_host(network, options.b_host.value_or(options.a_host)),
      a(a_host, options.a_endpoint),
      b(b_host, options.b_endpoint.value_or(options.a_endpoint)) {
  network.connect(a_host.node(), b_host.node(), options.link);
  if (options.is_connected) connect(a, b, options.connection);
  Random fill(options.seed);
  // Sparse memory may only be touched where it is used.
  if (options.a_endpoint.outside_memory.empty()) {
    fill.fill(a.memory());
    fill.fill(b.memory());
  }
}

}  // namespace roce::sim
