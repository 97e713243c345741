// SPDX-License-Identifier: BSD-2-Clause
#include "gen/exchange/exchange_pairs.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "roce/live/control_names.h"
#include "roce/live/pattern.h"
#include "roce/port/address_text.h"
#include "roce/transport/network_header.h"

namespace roce::gen {

namespace {

using transport::Access;
using transport::QpState;
using transport::QpType;

constexpr std::uint32_t kWord = 8;
constexpr std::uint32_t kPathMtu = 1024;
/// Receives for datagrams: on all queue pairs together, and at most on each.
constexpr std::uint32_t kDatagramSlots = 1 << 16;
constexpr std::uint32_t kMaxSlots = 4096;

}  // namespace

ExchangePairs::ExchangePairs(live::Endpoint& endpoint, live::ControlClient& peer, const ExchangeOptions& options,
                             live::RdmaCm* cm)
    : endpoint_(endpoint),
      device_(endpoint.device()),
      peer_(peer),
      options_(options),
      seed_(endpoint.random().number() & 0xFFFF) {
  if (options.cm_port != 0) cm_.emplace(*cm, options);
}

ExchangePairs::~ExchangePairs() {
  for (const ExchangePair& pair : pairs_) {
    (void)device_.destroy_qp(pair.qpn);
    (void)device_.destroy_ah(pair.ah);
  }
  (void)device_.deregister_memory(mr_);
  (void)device_.destroy_cq(cq_);
  (void)device_.destroy_pd(pd_);
}

std::size_t ExchangePairs::slot_offset(std::uint32_t index, std::uint64_t number) const {
  return (std::size_t{index} * options_.depth + number % options_.depth) * slot_bytes_;
}

std::span<std::byte> ExchangePairs::slot(std::uint32_t index, std::uint64_t number) {
  return std::span{memory_}.subspan(slot_offset(index, number), slot_bytes_);
}

transport::Sge ExchangePairs::local(std::uint32_t index, std::uint64_t number) const {
  return {region_.address + slot_offset(index, number), options_.size_of(number), region_.l_key};
}

transport::RemoteAddress ExchangePairs::remote(std::uint32_t index, std::uint64_t number) const {
  return {remote_address_ + slot_offset(index, number), remote_key_};
}

Outcome<void> ExchangePairs::make_memory() {
  slot_bytes_ = options_.is_atomic() ? kWord : (std::size_t{options_.sizes.largest()} + kWord - 1) / kWord * kWord;
  memory_.resize(slot_bytes_ * options_.depth * options_.qps);
  const Outcome<transport::Pd> pd = expect(device_.create_pd(), "make a protection domain");
  if (!pd) return tl::unexpected(pd.error());
  pd_ = *pd;
  const Outcome<transport::Cq> cq =
      expect(device_.create_cq(2 * options_.depth * options_.qps + 1), "make a completion queue");
  if (!cq) return tl::unexpected(cq.error());
  cq_ = *cq;
  const Outcome<transport::Mr> mr = expect(device_.register_memory(pd_, {.memory = memory_}), "register memory");
  if (!mr) return tl::unexpected(mr.error());
  mr_ = *mr;
  region_ = *device_.query_mr(mr_);

  if (options_.is_sent()) {
    // Datagrams arrive behind their network header. Without flow control, many more of them may arrive at once.
    sink_slot_bytes_ =
        slot_bytes_ + (options_.qp_type() == QpType::ud ? std::uint32_t{transport::kNetworkHeaderArea} : 0);
    sink_slots_ = 2 * options_.depth;
    if (options_.qp_type() == QpType::ud)
      sink_slots_ = std::clamp(kDatagramSlots / options_.qps, sink_slots_, kMaxSlots);
  }
  const std::size_t remote_bytes = options_.is_sent() ? sink_slot_bytes_ * sink_slots_ * options_.qps : memory_.size();
  const Outcome<nlohmann::json> made =
      peer_.call("create_memory",
                 {{"length", remote_bytes},
                  {"access", {"remote_write", "remote_read", "remote_atomic", "flush_global", "flush_persistent"}}});
  if (!made) return tl::unexpected(made.error());
  remote_memory_ = made->at("memory");
  remote_address_ = made->at("address");
  remote_key_ = RKey{made->at("r_key").get<std::uint32_t>()};
  if (options_.is_sent()) {
    // The kernel makes pages when they are first touched: here, and not while messages are timed.
    if (const Outcome<nlohmann::json> filled = peer_.call("fill_memory", {{"memory", remote_memory_}, {"seed", 0}});
        !filled) {
      return tl::unexpected(filled.error());
    }
  }
  if (options_.kind != ExchangeKind::read) return {};
  for (std::uint32_t index = 0; index < options_.qps; ++index) {
    for (std::uint32_t number = 0; number < options_.depth; ++number) {
      const Outcome<nlohmann::json> filled =
          peer_.call("fill_memory", {{"memory", remote_memory_},
                                     {"offset", slot_offset(index, number)},
                                     {"length", slot_bytes_},
                                     {"seed", live::message_seed(seed_, index, number)}});
      if (!filled) return tl::unexpected(filled.error());
    }
  }
  return {};
}

runtime::Rate ExchangePairs::rate_of_a_pair() const {
  constexpr std::uint64_t bits_per_byte = 8;
  const auto share = [this](std::uint64_t all) {
    return all == 0 ? 0 : std::max<std::uint64_t>(1, all / options_.qps);
  };
  runtime::Rate rate{.bps = share(options_.rate.bps), .pps = share(options_.rate.pps)};
  if (options_.kind == ExchangeKind::read && rate.bps != 0) {
    // We send only the requests, but the responses are what fills the wire.
    const std::uint64_t bytes = std::max(1U, options_.sizes.mean());
    rate.pps = std::max<std::uint64_t>(1, rate.bps / (bytes * bits_per_byte));
    rate.bps = 0;
  }
  return rate;
}

Outcome<void> ExchangePairs::make_pair(std::uint32_t index) {
  transport::QpInit init;
  init.type = options_.qp_type();
  init.pd = pd_;
  init.send_cq = init.receive_cq = cq_;
  init.max_send = 2 * options_.depth;
  init.max_send_sge = init.max_receive_sge = 1;
  init.max_receive = 1;
  const Outcome<Qpn> qpn = expect(device_.create_qp(init), "make a queue pair");
  if (!qpn) return tl::unexpected(qpn.error());
  endpoint_.adopt(*qpn);
  ExchangePair pair;
  pair.qpn = *qpn;
  pair.psn = endpoint_.random().psn();
  pair.posted_at.resize(options_.depth);
  pairs_.push_back(pair);

  const std::string_view type_name = options_.qp_type() == QpType::ud   ? "ud"
                                     : options_.qp_type() == QpType::uc ? "uc"
                                                                        : "rc";
  const Outcome<nlohmann::json> made =
      peer_.call("create_qp", {{"type", type_name}, {"max_receive", std::max(1U, sink_slots_)}, {"max_send", 1}});
  if (!made) return tl::unexpected(made.error());
  ExchangePair& own = pairs_.back();
  own.remote_qp = Qpn{made->at("qp").get<std::uint32_t>()};
  const std::optional<Gid> gid = port::parse_ip(peer_.hello().value("gid", ""));
  if (!gid) return failed("the peer told no address; is it a roce-gen peer?");
  transport::QpChange change{.state = QpState::init, .p_key_index = 0, .port = 1};
  if (init.type == QpType::ud) {
    change.q_key = QKey{live::kControlQKey};
  } else {
    change.access = Access::none;
  }
  if (Outcome<void> moved = expect(device_.modify_qp(own.qpn, change, endpoint_.now()), "move a queue pair to INIT");
      !moved)
    return moved;
  if (Outcome<void> connected = connect_pair(own, *gid, Psn{made->at("psn").get<std::uint32_t>()}); !connected)
    return connected;
  if (options_.is_sent()) {
    const Outcome<nlohmann::json> sink = peer_.call("sink", {{"qp", own.remote_qp.value()},
                                                             {"memory", remote_memory_},
                                                             {"offset", sink_slot_bytes_ * sink_slots_ * index},
                                                             {"slot_bytes", sink_slot_bytes_},
                                                             {"slots", sink_slots_},
                                                             {"index", index},
                                                             {"seed", seed_}});
    if (!sink) return tl::unexpected(sink.error());
  }
  if (init.type != QpType::ud) return {};
  const Outcome<transport::Ah> ah =
      expect(device_.create_ah(
                 pd_, {.sgid_index = endpoint_.sgid_index(), .dgid = *gid, .traffic_class = options_.traffic_class}),
             "make an address handle");
  if (!ah) return tl::unexpected(ah.error());
  own.ah = *ah;
  return {};
}

Outcome<void> ExchangePairs::connect_pair(ExchangePair& own, const Gid& gid, Psn remote_psn) {
  live::ConnectOptions options;
  options.sgid_index = endpoint_.sgid_index();
  options.gid = gid;
  options.remote_qp = own.remote_qp;
  options.remote_psn = remote_psn;
  options.psn = own.psn;
  options.path_mtu = path_mtu_;
  options.timeout = options_.timeout;
  const runtime::Rate rate = rate_of_a_pair();
  options.rate_limit_bps = rate.bps;
  options.rate_limit_pps = rate.pps;
  options.traffic_class = options_.traffic_class;
  if (cm_) {
    if (options_.qp_type() != QpType::ud) {
      if (Outcome<void> done = cm_->connect(peer_, gid, own.qpn, own.remote_qp, path_mtu_); !done) return done;
      transport::QpChange limits;
      limits.rate_limit_bps = rate.bps;
      limits.rate_limit_pps = rate.pps;
      return expect(device_.modify_qp(own.qpn, limits, endpoint_.now()), "limit the rate of a queue pair");
    }
    const Outcome<QKey> q_key = cm_->resolve(peer_, gid, own.remote_qp);
    if (!q_key) return tl::unexpected(q_key.error());
    own.q_key = *q_key;
  } else {
    const Outcome<nlohmann::json> connected = peer_.call("connect_qp", {{"qp", own.remote_qp.value()},
                                                                        {"gid", to_string(endpoint_.gid())},
                                                                        {"remote_qp", own.qpn.value()},
                                                                        {"remote_psn", own.psn.value()},
                                                                        {"psn", remote_psn.value()},
                                                                        {"path_mtu", path_mtu_},
                                                                        {"timeout", options_.timeout}});
    if (!connected) return tl::unexpected(connected.error());
  }
  return expect(connect(device_, own.qpn, options_.qp_type(), options, endpoint_.now()), "connect a queue pair");
}

Outcome<void> ExchangePairs::make() {
  const std::uint32_t common = std::min(endpoint_.max_path_mtu(), peer_.hello().value("max_path_mtu", kPathMtu));
  path_mtu_ = options_.path_mtu == 0 ? common : options_.path_mtu;
  if (path_mtu_ > common) {
    return cannot(fmt::format("a path MTU of {} does not fit both interfaces, {} does; use -m {}, or raise their MTU",
                              path_mtu_, common, common));
  }
  if (options_.qp_type() == QpType::ud && options_.sizes.largest() > path_mtu_) {
    return cannot(fmt::format("a datagram of {} bytes does not fit the path MTU of {}; use a smaller --size",
                              options_.sizes.largest(), path_mtu_));
  }
  if (Outcome<void> made = make_memory(); !made) return made;
  for (std::uint32_t index = 0; index < options_.qps; ++index) {
    if (Outcome<void> made = make_pair(index); !made) return made;
  }
  return {};
}

}  // namespace roce::gen
