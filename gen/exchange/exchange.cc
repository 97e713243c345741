// SPDX-License-Identifier: BSD-2-Clause
#include "gen/exchange/exchange.h"

#include <fmt/core.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "gen/exchange/exchange_check.h"
#include "gen/exchange/exchange_pairs.h"
#include "roce/live/pattern.h"

namespace roce::gen {

namespace {

using transport::WorkOpcode;

/// The exchange fails if nothing completes for this long.
constexpr Duration kLongestWait = std::chrono::seconds{30};
/// It fails too if a neighbour is not found for this long; neighbours are asked for each second.
constexpr Duration kLongestSearch = std::chrono::seconds{5};
constexpr Duration kLiveInterval = std::chrono::seconds{1};

class Exchange {
 public:
  Exchange(live::Endpoint& endpoint, live::ControlClient& peer, const ExchangeOptions& options, live::RdmaCm* cm)
      : endpoint_(endpoint),
        device_(endpoint.device()),
        peer_(peer),
        options_(options),
        pairs_(endpoint, peer, options, cm) {}

  [[nodiscard]] Outcome<ExchangeResult> run();

 private:
  [[nodiscard]] Outcome<void> fill(Time now);
  [[nodiscard]] Outcome<void> post(std::uint32_t index, Time now);
  [[nodiscard]] Outcome<void> take(const transport::Completion& completion, Time now);
  [[nodiscard]] Outcome<void> check_result(std::uint32_t index, std::uint64_t number);
  [[nodiscard]] Outcome<void> check_peer();
  [[nodiscard]] bool may_post(const ExchangePair& pair, Time now) const;
  void show_live(Time now);

  live::Endpoint& endpoint_;
  transport::Device& device_;
  live::ControlClient& peer_;
  const ExchangeOptions& options_;
  ExchangePairs pairs_;
  ExchangeResult result_;
  std::uint64_t under_way_ = 0;
  Time started_{};
  Time stop_at_ = kNever;
  Time last_progress_{};
  Time next_live_ = kNever;
  std::uint64_t live_completed_ = 0;
  std::uint64_t live_bytes_ = 0;
};

bool Exchange::may_post(const ExchangePair& pair, Time now) const {
  if (pair.posted - pair.completed >= options_.depth) return false;
  return options_.seconds > 0 ? now < stop_at_ : pair.posted < options_.count;
}

Outcome<void> Exchange::post(std::uint32_t index, Time now) {
  ExchangePair& pair = pairs_.all()[index];
  const std::uint64_t number = pair.posted;
  const std::uint32_t size = options_.size_of(number);
  const auto data = pairs_.slot(index, number);
  const transport::Sge sge = pairs_.local(index, number);
  transport::SendRequest request;
  request.wr_id = std::uint64_t{index} << 48 | number;
  request.sges = {&sge, 1};
  request.remote = pairs_.remote(index, number);
  switch (options_.kind) {
    case ExchangeKind::send:
      live::fill_pattern(data.first(size), live::message_seed(pairs_.seed(), index, number));
      break;
    case ExchangeKind::datagram:
      live::fill_pattern(data.first(size), live::message_seed(pairs_.seed(), index, number));
      request.opcode = WorkOpcode::send_with_immediate;
      request.immediate = static_cast<std::uint32_t>(number);
      request.datagram = {pair.ah, pair.remote_qp, pair.q_key};
      break;
    case ExchangeKind::write:
    case ExchangeKind::flush:
      live::fill_pattern(data.first(size), live::message_seed(pairs_.seed(), index, number));
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
      request.remote = pairs_.remote(index, 0);
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
    while (may_post(pairs_.all()[index], now)) {
      if (Outcome<void> posted = post(index, now); !posted) return posted;
    }
  }
  return {};
}

Outcome<void> Exchange::check_result(std::uint32_t index, std::uint64_t number) {
  if (options_.kind == ExchangeKind::read) {
    const auto data = pairs_.slot(index, number).first(options_.size_of(number));
    const std::optional<std::size_t> wrong =
        live::find_wrong_byte(data, live::message_seed(pairs_.seed(), index, number % options_.depth));
    if (wrong)
      return failed(fmt::format("READ {} on queue pair {} brought wrong data from byte {} on", number, index, *wrong));
  } else if (options_.is_atomic()) {
    std::uint64_t before = 0;
    std::copy_n(pairs_.slot(index, number).begin(), sizeof before, reinterpret_cast<std::byte*>(&before));
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
  ExchangePair& pair = pairs_.all()[index];
  result_.latency.add(now - pair.posted_at[number % options_.depth]);
  if (Outcome<void> checked = check_result(index, number); !checked) return checked;
  ++pair.completed;
  --under_way_;
  ++result_.completed;
  result_.bytes += options_.size_of(number);
  endpoint_.count_message(options_.size_of(number));
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

Outcome<void> Exchange::check_peer() {
  const Outcome<std::uint64_t> lost = gen::check_peer(pairs_, endpoint_, peer_, options_);
  if (!lost) return tl::unexpected(lost.error());
  result_.lost = *lost;
  if (*lost != 0 && !options_.allow_loss) {
    return failed(
        fmt::format("{} of {} messages did not arrive; --allow-loss if that is no failure", *lost, result_.completed));
  }
  Outcome<nlohmann::json> counters = peer_.call("counters");
  if (!counters) return tl::unexpected(counters.error());
  result_.theirs = std::move(counters->at("counters"));
  return {};
}

Outcome<ExchangeResult> Exchange::run() {
  if (Outcome<void> done = pairs_.make(); !done) return tl::unexpected(done.error());
  const transport::Counters before = device_.counters();
  started_ = last_progress_ = endpoint_.now();
  if (options_.seconds > 0) stop_at_ = started_ + Duration{static_cast<Duration::rep>(options_.seconds * 1e9)};
  if (options_.live) next_live_ = started_ + kLiveInterval;
  Outcome<void> state{};
  bool peer_gone = false;
  endpoint_.driver().watch(peer_.fd(), POLLIN, [&peer_gone](short) { peer_gone = true; });
  const live::Result<bool> ran = endpoint_.driver().run([&](Time time) {
    if (pairs_.cm() != nullptr) pairs_.cm()->step(time);
    std::array<transport::Completion, 64> completions;
    const std::size_t count = device_.poll_cq(pairs_.cq(), completions);
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
  result_.ours = device_.counters();
  for (const transport::CounterName& name : transport::counter_names())
    result_.ours.*name.member -= before.*name.member;
  // After a signal requests are still under way, so there is nothing to check.
  if (result_.stopped) return std::move(result_);
  if (Outcome<void> checked = check_peer(); !checked) return tl::unexpected(checked.error());
  if (pairs_.cm() != nullptr) {
    if (Outcome<void> ended = pairs_.cm()->disconnect(); !ended) return tl::unexpected(ended.error());
  }
  return std::move(result_);
}

}  // namespace

Outcome<ExchangeResult> run_exchange(live::Endpoint& endpoint, live::ControlClient& peer,
                                     const ExchangeOptions& options, live::RdmaCm* cm) {
  return Exchange{endpoint, peer, options, cm}.run();
}

}  // namespace roce::gen
