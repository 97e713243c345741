// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "roce/live/endpoint.h"

namespace roce::live {

using Shards = std::span<const std::unique_ptr<Endpoint>>;

/// Ends the loops of all drivers; may be called from any thread.
void stop_shards(Shards shards);

/// The threads of the shards of an endpoint other than the first. Meanwhile the first, which belongs to the caller's
/// thread, hands PAUSE and PFC frames on to the others, and its metrics include theirs.
class ShardThreads {
 public:
  /// Calls `body` with the number of each shard in its thread; `body`
  /// runs the shard's driver. The shards have to outlive this object.
  ShardThreads(Shards shards, const std::function<void(std::size_t shard)>& body);
  /// Waits for the threads to end.
  ~ShardThreads();
  ShardThreads(const ShardThreads&) = delete;
  ShardThreads& operator=(const ShardThreads&) = delete;

 private:
  struct Worker {
    std::mutex ending;
    bool over = false;  // nobody does posted work any more
    std::thread thread;
  };

  void ask(std::size_t shard, const std::function<void()>& work);
  [[nodiscard]] EndpointCounters sum_of_others();

  Shards shards_;
  std::vector<std::unique_ptr<Worker>> workers_;  // one for each of `shards_` from the second on
};

}  // namespace roce::live
