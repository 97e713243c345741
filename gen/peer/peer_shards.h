// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "command_line/outcome.h"
#include "roce/live/control_clients.h"
#include "roce/live/endpoint.h"
#include "roce/live/shard_threads.h"

namespace roce::gen {

/// The shards of a peer other than the first: each serves, in a thread of its own, the clients of the control protocol
/// that are handed to it. Does nothing if there is only one shard.
class PeerShards {
 public:
  /// `shards` has to outlive this. `token` as in `ControlSession::Terms`; `memory_limit` is for all clients, in bytes.
  PeerShards(live::Shards shards, std::string token, std::uint64_t memory_limit);
  ~PeerShards();
  PeerShards(const PeerShards&) = delete;
  PeerShards& operator=(const PeerShards&) = delete;

  /// Returns the terms of a shard's clients.
  [[nodiscard]] live::ControlSession::Terms terms(std::uint32_t shard) const;
  /// Returns the function by which the first shard hands clients over.
  [[nodiscard]] live::ControlClients::HandOver hand_over();
  void start();
  /// Ends the clients and the threads. Failure: a shard has ended earlier because of its link.
  [[nodiscard]] Outcome<void> stop();

 private:
  void run(std::size_t shard);

  live::Shards shards_;
  std::string token_;
  std::shared_ptr<live::MemoryBudget> budget_;
  std::vector<std::unique_ptr<live::ControlClients>> clients_;  // one for each of `shards_` from the second on
  std::unique_ptr<live::ShardThreads> threads_;
  std::mutex failing_;
  std::optional<Failure> failure_;
};

}  // namespace roce::gen
