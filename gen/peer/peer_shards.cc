// SPDX-License-Identifier: BSD-2-Clause
#include "gen/peer/peer_shards.h"

#include <utility>

namespace roce::gen {

PeerShards::PeerShards(live::Shards shards, std::string token, std::uint64_t memory_limit)
    : shards_(shards), token_(std::move(token)), budget_(std::make_shared<live::MemoryBudget>(memory_limit)) {
  for (std::uint32_t shard = 1; shard < shards_.size(); ++shard) {
    clients_.push_back(std::make_unique<live::ControlClients>(*shards_[shard], nullptr, terms(shard)));
  }
}

PeerShards::~PeerShards() {
  (void)stop();
}

live::ControlSession::Terms PeerShards::terms(std::uint32_t shard) const {
  return {.token = token_, .shard = shard, .shards = static_cast<std::uint32_t>(shards_.size()), .budget = budget_};
}

live::ControlClients::HandOver PeerShards::hand_over() {
  return [this](std::uint32_t shard, live::JsonLines lines, nlohmann::json first) {
    // Posted work has to be copyable.
    auto moved = std::make_shared<std::pair<live::JsonLines, nlohmann::json>>(std::move(lines), std::move(first));
    shards_[shard]->driver().post(
        [&clients = *clients_[shard - 1], moved] { clients.add(std::move(moved->first), moved->second); });
  };
}

void PeerShards::start() {
  if (!clients_.empty())
    threads_ = std::make_unique<live::ShardThreads>(shards_, [this](std::size_t shard) { run(shard); });
}

void PeerShards::run(std::size_t shard) {
  live::ControlClients& clients = *clients_[shard - 1];
  port::Port& port = shards_[shard]->port();
  const live::Result<bool> ran = shards_[shard]->driver().run([&](Time time) {
    const bool moved = clients.step();
    while (port.poll_event(time)) {
    }
    return moved ? live::Driver::Step::busy : live::Driver::Step::idle;
  });
  if (ran) return;
  const std::scoped_lock lock{failing_};
  if (!failure_) failure_ = ran.error();
  live::stop_shards(shards_);
}

Outcome<void> PeerShards::stop() {
  if (threads_ == nullptr) return {};
  live::stop_shards(shards_);
  threads_.reset();
  clients_.clear();
  if (failure_) return tl::unexpected(std::move(*failure_));
  return {};
}

}  // namespace roce::gen
