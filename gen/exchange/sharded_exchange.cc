// SPDX-License-Identifier: BSD-2-Clause
#include "gen/exchange/sharded_exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "roce/live/shard_threads.h"

namespace roce::gen {

namespace {

/// Divides an exchange among shards: the queue pairs, and the rate in proportion to them.
[[nodiscard]] std::vector<ExchangeOptions> divide(const ExchangeOptions& whole, std::uint32_t shards) {
  std::vector<ExchangeOptions> parts(shards, whole);
  for (std::uint32_t shard = 0; shard < shards; ++shard) {
    ExchangeOptions& part = parts[shard];
    part.qps = whole.qps / shards + (shard < whole.qps % shards ? 1 : 0);
    const auto share = [&](std::uint64_t all) {
      return all == 0 ? 0 : std::max<std::uint64_t>(1, all / whole.qps * part.qps);
    };
    part.rate = {.bps = share(whole.rate.bps), .pps = share(whole.rate.pps)};
    // The shards cannot share a line on the screen.
    part.live = false;
  }
  return parts;
}

void merge(ExchangeResult& sum, const ExchangeResult& part) {
  sum.completed += part.completed;
  sum.bytes += part.bytes;
  sum.lost += part.lost;
  sum.started = std::min(sum.started, part.started);
  sum.ended = std::max(sum.ended, part.ended);
  sum.latency.add(part.latency);
  live::add(sum.ours, part.ours);
  sum.congestion.insert(sum.congestion.end(), part.congestion.begin(), part.congestion.end());
  sum.stopped |= part.stopped;
}

/// The counters of the peer's shards by number, each shard once: if one
/// was asked twice, the later values count, which are the larger ones.
class PeerCounters {
 public:
  void take(std::uint32_t shard, const nlohmann::json& counters) {
    for (const auto& [name, value] : counters.items()) {
      std::uint64_t& known = shards[shard][name];
      known = std::max(known, value.get<std::uint64_t>());
    }
  }
  [[nodiscard]] nlohmann::json sum() const {
    std::map<std::string, std::uint64_t> sum;
    for (const auto& [shard, counters] : shards) {
      for (const auto& [name, value] : counters) sum[name] += value;
    }
    return sum;
  }

 private:
  std::map<std::uint32_t, std::map<std::string, std::uint64_t>> shards;
};

}  // namespace

Outcome<std::unique_ptr<ShardedExchange>> ShardedExchange::open(const options::ProgramOptions& endpoint,
                                                                const ExchangeOptions& exchange,
                                                                const live::ControlAddress& address) {
  if (exchange.cm_port != 0) {
    return cannot("--cm connects through QP1, which only the first shard has; leave out --shards, or --cm");
  }
  if (exchange.qps < endpoint.shards) {
    return cannot(fmt::format("{} shards need a queue pair each, and there are {}; use -q {}, or fewer --shards",
                              endpoint.shards, exchange.qps, endpoint.shards));
  }
  std::unique_ptr<ShardedExchange> opened{new ShardedExchange};
  Outcome<std::unique_ptr<options::ProgramEndpoint>> program = options::ProgramEndpoint::open(endpoint);
  if (!program) return tl::unexpected(program.error());
  opened->program_ = std::move(*program);
  opened->parts_ = divide(exchange, endpoint.shards);
  std::uint32_t theirs = 1;
  for (std::uint32_t shard = 0; shard < endpoint.shards; ++shard) {
    live::Result<std::unique_ptr<live::ControlClient>> peer =
        live::ControlClient::open(*opened->program_->shards()[shard], address, shard % theirs);
    if (!peer) return tl::unexpected(peer.error());
    theirs = std::max(1U, (*peer)->hello().value("shards", 1U));
    opened->peers_.push_back(std::move(*peer));
  }
  return opened;
}

Outcome<ExchangeResult> ShardedExchange::run() {
  const live::Shards shards = program_->shards();
  std::mutex ending;
  std::optional<Failure> failure;  // the first; later ones may only follow from being stopped
  std::vector<std::optional<ExchangeResult>> results(shards.size());
  std::atomic running = shards.size();
  const auto run_part = [&](std::size_t shard) {
    Outcome<ExchangeResult> result = run_exchange(*shards[shard], *peers_[shard], parts_[shard], nullptr);
    const std::scoped_lock lock{ending};
    if (result) {
      results[shard] = std::move(*result);
    } else if (!failure) {
      failure = std::move(result.error());
    }
    --running;
    if (failure) return live::stop_shards(shards);
    // Wakes the first shard, which waits for the others.
    shards.front()->driver().post([] {});
  };
  {
    const live::ShardThreads others{shards, run_part};
    run_part(0);
    (void)shards.front()->driver().run(
        [&](Time) { return running == 0 ? live::Driver::Step::done : live::Driver::Step::idle; });
  }
  if (failure) return tl::unexpected(std::move(*failure));
  PeerCounters theirs;
  ExchangeResult sum = *results.front();
  for (std::size_t shard = 0; shard < shards.size(); ++shard) {
    theirs.take(peers_[shard]->hello().value("shard", 0U), results[shard]->theirs);
    if (shard != 0) merge(sum, *results[shard]);
  }
  sum.theirs = theirs.sum();
  return sum;
}

Outcome<void> ShardedExchange::close() {
  return program_->close();
}

}  // namespace roce::gen
