// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "gen/control_clients.h"
#include "gen/endpoint.h"
#include "gen/shard_threads.h"

namespace roce::gen {

/// The shards of a peer but the first: each serves the clients of the control protocol that it is handed, in a thread
/// of its own. Without other shards nothing happens.
class PeerShards {
 public:
  /// `shards` has to outlive this. `token` as in `ControlSession::Terms`; all clients together have so much memory.
  PeerShards(Shards shards, std::string token, std::uint64_t memory_limit);
  ~PeerShards();
  PeerShards(const PeerShards&) = delete;
  PeerShards& operator=(const PeerShards&) = delete;

  /// The terms of a shard's clients.
  [[nodiscard]] ControlSession::Terms terms(std::uint32_t shard) const;
  /// How the first gives clients away.
  [[nodiscard]] ControlClients::HandOver hand_over();
  void start();
  /// Ends the clients and the threads. Failure: a shard had to end before, because of its link.
  [[nodiscard]] Outcome<void> stop();

 private:
  void run(std::size_t shard);

  Shards shards_;
  std::string token_;
  std::shared_ptr<MemoryBudget> budget_;
  std::vector<std::unique_ptr<ControlClients>> clients_;  // as `shards_` from the second on
  std::unique_ptr<ShardThreads> threads_;
  std::mutex failing_;
  std::optional<Failure> failure_;
};

}  // namespace roce::gen
