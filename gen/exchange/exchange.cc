// SPDX-License-Identifier: BSD-2-Clause
#include "gen/exchange/exchange.h"

#include <fmt/core.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "gen/exchange/exchange_cm.h"
#include "roce/live/control_names.h"
#include "roce/live/pattern.h"
#include "roce/port/address_text.h"
#include "roce/transport/network_header.h"

namespace roce::gen {

namespace {

using transport::Access;
using transport::QpState;
using transport::QpType;
using transport::WorkOpcode;
using Json = nlohmann::ordered_json;

constexpr std::uint32_t kWord = 8;
constexpr std::uint32_t kPathMtu = 1024;
/// Receives for datagrams: on all queue pairs together, and at most on each.
constexpr std::uint32_t kDatagramSlots = 1 << 16;
constexpr std::uint32_t kMaxSlots = 4096;
/// The exchange fails if nothing completes for this long.
constexpr Duration kLongestWait = std::chrono::seconds{30};
/// It fails too if a neighbour is not found for this long; neighbours are asked for each second.
constexpr Duration kLongestSearch = std::chrono::seconds{5};
constexpr Duration kLiveInterval = std::chrono::seconds{1};
/// Time for messages that are still on their way after the last request completed.
constexpr Duration kDrainTime = std::chrono::seconds{1};
/// Time between two questions to the peer about what it has received.
constexpr Duration kLookInterval = std::chrono::milliseconds{1};
/// Parts of memory compared by one request.
constexpr std::size_t kPartsPerCheck = 1024;

class Exchange {
 public:
  Exchange(live::Endpoint& endpoint, live::ControlClient& peer, const ExchangeOptions& options, live::RdmaCm* cm)
      : endpoint_(endpoint), device_(endpoint.device()), peer_(peer), options_(options) {
    if (options.cm_port != 0) cm_.emplace(*cm, options);
  }
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  [[nodiscard]] Outcome<ExchangeResult> run();

 private:
  struct Pair {
    Qpn qpn{};
    Psn psn{};
    Qpn remote_qp{};
    transport::Ah ah{};
    QKey q_key{live::kControlQKey};
    std::uint64_t posted = 0;
    std::uint64_t completed = 0;
    std::vector<Time> posted_at;  // time of posting, by slot
  };

  [[nodiscard]] Outcome<void> set_up();
  [[nodiscard]] Outcome<void> make_memory();
  [[nodiscard]] Outcome<void> make_pair(std::uint32_t index);
  [[nodiscard]] Outcome<void> connect_pair(Pair& own, const Gid& gid, Psn remote_psn);
  [[nodiscard]] Outcome<void> fill(Time now);
  [[nodiscard]] Outcome<void> post(std::uint32_t index, Time now);
  [[nodiscard]] Outcome<void> take(const transport::Completion& completion, Time now);
  [[nodiscard]] Outcome<void> check_result(std::uint32_t index, std::uint64_t number);
  [[nodiscard]] Outcome<void> check_peer();
  [[nodiscard]] Outcome<void> check_peer_memory();
  [[nodiscard]] Outcome<void> check_sinks();
  [[nodiscard]] runtime::Rate rate_of_a_pair() const;
  [[nodiscard]] bool may_post(const Pair& pair, Time now) const;
  void show_live(Time now);

  [[nodiscard]] bool is_atomic() const {
    return options_.kind == ExchangeKind::fetch_add || options_.kind == ExchangeKind::compare_swap;
  }
  [[nodiscard]] bool is_sent() const {
    return options_.kind == ExchangeKind::send || options_.kind == ExchangeKind::datagram;
  }
  [[nodiscard]] bool is_written() const {
    return options_.kind == ExchangeKind::write || options_.kind == ExchangeKind::flush;
  }
  [[nodiscard]] QpType type() const {
    if (options_.kind == ExchangeKind::datagram) return QpType::ud;
    return options_.unreliable ? QpType::uc : QpType::rc;
  }
  [[nodiscard]] std::uint32_t size_of(std::uint64_t number) const {
    return is_atomic() ? kWord : options_.sizes.of(number);
  }
  [[nodiscard]] std::size_t slot_offset(std::uint32_t index, std::uint64_t number) const {
    return (std::size_t{index} * options_.depth + number % options_.depth) * slot_bytes_;
  }
  [[nodiscard]] std::span<std::byte> slot(std::uint32_t index, std::uint64_t number) {
    return std::span{memory_}.subspan(slot_offset(index, number), slot_bytes_);
  }

  live::Endpoint& endpoint_;
  transport::Device& device_;
  live::ControlClient& peer_;
  const ExchangeOptions& options_;
  std::optional<ExchangeCm> cm_;
  ExchangeResult result_;
  std::uint64_t seed_ = endpoint_.random().number() & 0xFFFF;
  std::size_t slot_bytes_ = 0;
  std::size_t sink_slot_bytes_ = 0;  // bytes of each of the peer's receives
  std::uint32_t sink_slots_ = 0;     // receives on each queue pair
  std::vector<std::byte> memory_;
  transport::Pd pd_{};
  transport::Cq cq_{};
  transport::Mr mr_{};
  transport::MrInfo region_{};
  std::vector<Pair> pairs_;
  std::uint32_t remote_memory_ = 0;
  std::uint64_t remote_address_ = 0;
  RKey remote_key_{};
  std::uint32_t path_mtu_ = 0;
  std::uint64_t under_way_ = 0;
  Time started_{};
  Time stop_at_ = kNever;
  Time last_progress_{};
  Time next_live_ = kNever;
  std::uint64_t live_completed_ = 0;
  std::uint64_t live_bytes_ = 0;
};

Exchange::~Exchange() {
  for (const Pair& pair : pairs_) {
    (void)device_.destroy_qp(pair.qpn);
    (void)device_.destroy_ah(pair.ah);
  }
  (void)device_.deregister_memory(mr_);
  (void)device_.destroy_cq(cq_);
  (void)device_.destroy_pd(pd_);
}

Outcome<void> Exchange::make_memory() {
  slot_bytes_ = is_atomic() ? kWord : (std::size_t{options_.sizes.largest()} + kWord - 1) / kWord * kWord;
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

  if (is_sent()) {
    // Datagrams arrive behind their network header. Without flow control, many more of them may arrive at once.
    sink_slot_bytes_ = slot_bytes_ + (type() == QpType::ud ? std::uint32_t{transport::kNetworkHeaderArea} : 0);
    sink_slots_ = 2 * options_.depth;
    if (type() == QpType::ud) sink_slots_ = std::clamp(kDatagramSlots / options_.qps, sink_slots_, kMaxSlots);
  }
  const std::size_t remote_bytes = is_sent() ? sink_slot_bytes_ * sink_slots_ * options_.qps : memory_.size();
  const Outcome<nlohmann::json> made =
      peer_.call("create_memory",
                 {{"length", remote_bytes},
                  {"access", {"remote_write", "remote_read", "remote_atomic", "flush_global", "flush_persistent"}}});
  if (!made) return tl::unexpected(made.error());
  remote_memory_ = made->at("memory");
  remote_address_ = made->at("address");
  remote_key_ = RKey{made->at("r_key").get<std::uint32_t>()};
  if (is_sent()) {
    // The kernel makes pages when they are first touched: here, and not while messages are timed.
    if (const Outcome<nlohmann::json> filled = peer_.call("fill_memory", {{"memory", remote_memory_}, {"seed", 0}});
        !filled) {
      return tl::unexpected(filled.error());
    }
  }
  if (options_.kind != ExchangeKind::read) return {};
  for (std::uint32_t index = 0; index < options_.qps; ++index) {
    for (std::uint32_t slot = 0; slot < options_.depth; ++slot) {
      const Outcome<nlohmann::json> filled =
          peer_.call("fill_memory", {{"memory", remote_memory_},
                                     {"offset", slot_offset(index, slot)},
                                     {"length", slot_bytes_},
                                     {"seed", live::message_seed(seed_, index, slot)}});
      if (!filled) return tl::unexpected(filled.error());
    }
  }
  return {};
}

runtime::Rate Exchange::rate_of_a_pair() const {
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

Outcome<void> Exchange::make_pair(std::uint32_t index) {
  transport::QpInit init;
  init.type = type();
  init.pd = pd_;
  init.send_cq = init.receive_cq = cq_;
  init.max_send = 2 * options_.depth;
  init.max_send_sge = init.max_receive_sge = 1;
  init.max_receive = 1;
  const Outcome<Qpn> qpn = expect(device_.create_qp(init), "make a queue pair");
  if (!qpn) return tl::unexpected(qpn.error());
  endpoint_.adopt(*qpn);
  Pair pair;
  pair.qpn = *qpn;
  pair.psn = endpoint_.random().psn();
  pair.posted_at.resize(options_.depth);
  pairs_.push_back(pair);

  const std::string_view type_name = type() == QpType::ud ? "ud" : type() == QpType::uc ? "uc" : "rc";
  const Outcome<nlohmann::json> made =
      peer_.call("create_qp", {{"type", type_name}, {"max_receive", std::max(1U, sink_slots_)}, {"max_send", 1}});
  if (!made) return tl::unexpected(made.error());
  Pair& own = pairs_.back();
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
  if (is_sent()) {
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

Outcome<void> Exchange::connect_pair(Pair& own, const Gid& gid, Psn remote_psn) {
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
    if (type() != QpType::ud) {
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
  return expect(connect(device_, own.qpn, type(), options, endpoint_.now()), "connect a queue pair");
}

Outcome<void> Exchange::set_up() {
  const std::uint32_t common = std::min(endpoint_.max_path_mtu(), peer_.hello().value("max_path_mtu", kPathMtu));
  path_mtu_ = options_.path_mtu == 0 ? common : options_.path_mtu;
  if (path_mtu_ > common) {
    return cannot(fmt::format("a path MTU of {} does not fit both interfaces, {} does; use -m {}, or raise their MTU",
                              path_mtu_, common, common));
  }
  if (type() == QpType::ud && options_.sizes.largest() > path_mtu_) {
    return cannot(fmt::format("a datagram of {} bytes does not fit the path MTU of {}; use a smaller --size",
                              options_.sizes.largest(), path_mtu_));
  }
  if (Outcome<void> made = make_memory(); !made) return made;
  for (std::uint32_t index = 0; index < options_.qps; ++index) {
    if (Outcome<void> made = make_pair(index); !made) return made;
  }
  return {};
}

bool Exchange::may_post(const Pair& pair, Time now) const {
  if (pair.posted - pair.completed >= options_.depth) return false;
  return options_.seconds > 0 ? now < stop_at_ : pair.posted < options_.count;
}

Outcome<void> Exchange::post(std::uint32_t index, Time now) {
  Pair& pair = pairs_[index];
  const std::uint64_t number = pair.posted;
  const std::size_t offset = slot_offset(index, number);
  const std::uint32_t size = size_of(number);
  const auto data = slot(index, number);
  const transport::Sge sge{region_.address + offset, size, region_.l_key};
  transport::SendRequest request;
  request.wr_id = std::uint64_t{index} << 48 | number;
  request.sges = {&sge, 1};
  request.remote = {remote_address_ + offset, remote_key_};
  switch (options_.kind) {
    case ExchangeKind::send:
      live::fill_pattern(data.first(size), live::message_seed(seed_, index, number));
      break;
    case ExchangeKind::datagram:
      live::fill_pattern(data.first(size), live::message_seed(seed_, index, number));
      request.opcode = WorkOpcode::send_with_immediate;
      request.immediate = static_cast<std::uint32_t>(number);
      request.datagram = {pair.ah, pair.remote_qp, pair.q_key};
      break;
    case ExchangeKind::write:
    case ExchangeKind::flush:
      live::fill_pattern(data.first(size), live::message_seed(seed_, index, number));
      request.opcode = WorkOpcode::write;
      break;
    case ExchangeKind::read:
      // So that old data cannot pass for new.
      std::fill(data.begin(), data.end(), std::byte{0});
      request.opcode = WorkOpcode::read;
      break;
    case ExchangeKind::fetch_add:
    case ExchangeKind::compare_swap:
      request.opcode = options_.kind == ExchangeKind::fetch_add ? WorkOpcode::fetch_add : WorkOpcode::compare_swap;
      request.remote.address = remote_address_ + slot_offset(index, 0);
      request.compare_add = options_.kind == ExchangeKind::fetch_add ? 1 : number;
      request.swap = number + 1;
      break;
  }
  if (options_.kind == ExchangeKind::flush) {
    request.signaled = false;
    if (Outcome<void> posted = expect(device_.post_send(pair.qpn, request), "post a WRITE"); !posted) return posted;
    request.signaled = true;
    request.opcode = WorkOpcode::flush;
    request.sges = {};
    request.flush = {.length = size};
  }
  pair.posted_at[number % options_.depth] = now;
  ++pair.posted;
  ++under_way_;
  return expect(device_.post_send(pair.qpn, request), "post a request");
}

Outcome<void> Exchange::fill(Time now) {
  for (std::uint32_t index = 0; index < options_.qps; ++index) {
    while (may_post(pairs_[index], now)) {
      if (Outcome<void> posted = post(index, now); !posted) return posted;
    }
  }
  return {};
}

Outcome<void> Exchange::check_result(std::uint32_t index, std::uint64_t number) {
  if (options_.kind == ExchangeKind::read) {
    const auto data = slot(index, number).first(size_of(number));
    const std::optional<std::size_t> wrong =
        live::find_wrong_byte(data, live::message_seed(seed_, index, number % options_.depth));
    if (wrong)
      return failed(fmt::format("READ {} on queue pair {} brought wrong data from byte {} on", number, index, *wrong));
  } else if (is_atomic()) {
    std::uint64_t before = 0;
    std::copy_n(slot(index, number).begin(), sizeof before, reinterpret_cast<std::byte*>(&before));
    if (before != number) {
      return failed(fmt::format("atomic {} on queue pair {} found {} in the peer's memory", number, index, before));
    }
  }
  return {};
}

Outcome<void> Exchange::take(const transport::Completion& completion, Time now) {
  const auto index = static_cast<std::uint32_t>(completion.wr_id >> 48);
  const std::uint64_t number = completion.wr_id & ((std::uint64_t{1} << 48) - 1);
  if (completion.status != transport::CompletionStatus::success) {
    return failed(
        fmt::format("message {} on queue pair {} ended with: {}", number, index, to_string(completion.status)));
  }
  Pair& pair = pairs_[index];
  result_.latency.add(now - pair.posted_at[number % options_.depth]);
  if (Outcome<void> checked = check_result(index, number); !checked) return checked;
  ++pair.completed;
  --under_way_;
  ++result_.completed;
  result_.bytes += size_of(number);
  endpoint_.count_message(size_of(number));
  last_progress_ = now;
  return {};
}

void Exchange::show_live(Time now) {
  if (now < next_live_) return;
  const double seconds = std::chrono::duration<double>(now - (next_live_ - kLiveInterval)).count();
  const transport::Counters counters = device_.counters();
  fmt::print(stderr, "\r{:>6.1f} s  {:>10.0f} msg/s  {:>8.3f} Gbit/s  {:>8} retransmitted  {:>6} timeouts \x1b[K",
             std::chrono::duration<double>(now - started_).count(),
             static_cast<double>(result_.completed - live_completed_) / seconds,
             static_cast<double>(result_.bytes - live_bytes_) * 8e-9 / seconds, counters.retransmitted_packets,
             counters.timeouts);
  std::fflush(stderr);
  live_completed_ = result_.completed;
  live_bytes_ = result_.bytes;
  next_live_ = now + kLiveInterval;
}

Outcome<void> Exchange::check_peer_memory() {
  Json parts = Json::array();
  const auto ask = [&]() -> Outcome<void> {
    if (parts.empty()) return {};
    const Outcome<nlohmann::json> answer = peer_.call("check_memory", {{"memory", remote_memory_}, {"parts", parts}});
    if (!answer) return tl::unexpected(answer.error());
    parts = Json::array();
    if (answer->value("equal", false)) return {};
    return failed(fmt::format("the peer's memory is wrong at byte {}", answer->value("wrong_at", std::uint64_t{0})));
  };
  for (std::uint32_t index = 0; index < options_.qps; ++index) {
    const std::uint64_t posted = pairs_[index].posted;
    const std::uint64_t first = posted > options_.depth ? posted - options_.depth : 0;
    for (std::uint64_t number = first; number < posted; ++number) {
      parts.push_back({{"offset", slot_offset(index, number)},
                       {"length", size_of(number)},
                       {"seed", live::message_seed(seed_, index, number)}});
      if (parts.size() < kPartsPerCheck) continue;
      if (Outcome<void> checked = ask(); !checked) return checked;
    }
  }
  return ask();
}

Outcome<void> Exchange::check_sinks() {
  const Time deadline = endpoint_.now() + kDrainTime;
  std::uint64_t lost = 0;
  for (const Pair& pair : pairs_) {
    std::uint64_t received = 0;
    while (true) {
      const Outcome<nlohmann::json> status = peer_.call("sink_status", {{"qp", pair.remote_qp.value()}});
      if (!status) return tl::unexpected(status.error());
      if (const std::uint64_t wrong = status->at("wrong"); wrong != 0) {
        return failed(fmt::format("{} messages arrived with wrong data", wrong));
      }
      received = status->at("received");
      if (received >= pair.completed || endpoint_.now() >= deadline) break;
      // Messages that are on their way arrive meanwhile.
      const Time look_at = endpoint_.now() + kLookInterval;
      endpoint_.driver().wake_at(look_at);
      const live::Result<bool> ran = endpoint_.driver().run(
          [look_at](Time time) { return time >= look_at ? live::Driver::Step::done : live::Driver::Step::idle; });
      if (!ran) return tl::unexpected(ran.error());
      if (!*ran) return failed("stopped while the last messages were waited for");
    }
    lost += pair.completed - std::min(received, pair.completed);
  }
  result_.lost = lost;
  if (lost == 0 || options_.allow_loss) return {};
  return failed(
      fmt::format("{} of {} messages did not arrive; --allow-loss if that is no failure", lost, result_.completed));
}

Outcome<void> Exchange::check_peer() {
  if (is_sent()) {
    // A lost SEND of UC shifts the numbers of those after it, so they are wrong; only datagrams carry their number.
    if (Outcome<void> checked = check_sinks(); !checked) return checked;
  } else if (is_written() && type() == QpType::rc) {
    if (Outcome<void> checked = check_peer_memory(); !checked) return checked;
  }
  Outcome<nlohmann::json> counters = peer_.call("counters");
  if (!counters) return tl::unexpected(counters.error());
  result_.theirs = std::move(counters->at("counters"));
  return {};
}

Outcome<ExchangeResult> Exchange::run() {
  if (Outcome<void> done = set_up(); !done) return tl::unexpected(done.error());
  const transport::Counters before = device_.counters();
  started_ = last_progress_ = endpoint_.now();
  if (options_.seconds > 0) stop_at_ = started_ + Duration{static_cast<Duration::rep>(options_.seconds * 1e9)};
  if (options_.live) next_live_ = started_ + kLiveInterval;
  Outcome<void> state{};
  bool peer_gone = false;
  endpoint_.driver().watch(peer_.fd(), POLLIN, [&peer_gone](short) { peer_gone = true; });
  const live::Result<bool> ran = endpoint_.driver().run([&](Time time) {
    if (cm_) cm_->step(time);
    std::array<transport::Completion, 64> completions;
    const std::size_t count = device_.poll_cq(cq_, completions);
    for (std::size_t i = 0; i < count && state; ++i) state = take(completions[i], time);
    if (state) state = fill(time);
    while (endpoint_.port().poll_event(time)) {
    }
    show_live(time);
    const Duration idle = time - last_progress_;
    if (state && under_way_ != 0 && idle > kLongestSearch) {
      if (const std::string why = endpoint_.port().why_waiting(); !why.empty()) state = failed(why);
    }
    if (state && under_way_ != 0 && idle > kLongestWait) {
      state = failed(fmt::format("nothing completed for 30 s, with {} requests under way", under_way_));
    }
    // Datagrams complete without a peer, and would go on for ever.
    if (state && peer_gone) state = failed("the peer is gone: it closed the control connection");
    if (!state || under_way_ == 0) return live::Driver::Step::done;
    endpoint_.driver().wake_at(
        std::min(next_live_, last_progress_ + (idle > kLongestSearch ? kLongestWait : kLongestSearch)));
    return count != 0 ? live::Driver::Step::busy : live::Driver::Step::idle;
  });
  endpoint_.driver().forget(peer_.fd());
  if (options_.live && next_live_ != started_ + kLiveInterval) fmt::print(stderr, "\n");
  if (!ran) return tl::unexpected(ran.error());
  if (!state) return tl::unexpected(state.error());
  result_.started = started_;
  result_.ended = last_progress_;
  result_.stopped = !*ran;
  result_.congestion = device_.congestion_readings(endpoint_.now());
  result_.ours = device_.counters();
  for (const transport::CounterName& name : transport::counter_names())
    result_.ours.*name.member -= before.*name.member;
  // After a signal requests are still under way, so there is nothing to check.
  if (result_.stopped) return std::move(result_);
  if (Outcome<void> checked = check_peer(); !checked) return tl::unexpected(checked.error());
  if (cm_) {
    if (Outcome<void> ended = cm_->disconnect(); !ended) return tl::unexpected(ended.error());
  }
  return std::move(result_);
}

}  // namespace

Outcome<ExchangeResult> run_exchange(live::Endpoint& endpoint, live::ControlClient& peer,
                                     const ExchangeOptions& options, live::RdmaCm* cm) {
  return Exchange{endpoint, peer, options, cm}.run();
}

}  // namespace roce::gen
