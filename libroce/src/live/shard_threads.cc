// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/shard_threads.h"

#include <future>

namespace roce::live {

void stop_shards(Shards shards) {
  for (const std::unique_ptr<Endpoint>& shard : shards) {
    shard->driver().post([&driver = shard->driver()] { driver.stop(); });
  }
}

ShardThreads::ShardThreads(Shards shards, const std::function<void(std::size_t shard)>& body) : shards_(shards) {
  shards_.front()->set_other_counters([this] { return sum_of_others(); });
  shards_.front()->port().set_on_pause([this](Bytes frame) {
    for (const std::unique_ptr<Endpoint>& shard : shards_.subspan(1)) {
      shard->driver().post([&shard = *shard, copy = std::vector<std::byte>(frame.begin(), frame.end())] {
        shard.port().take_pause(copy, shard.now());
      });
    }
  });
  for (std::size_t shard = 1; shard < shards_.size(); ++shard) {
    Worker& worker = *workers_.emplace_back(std::make_unique<Worker>());
    worker.thread = std::thread{[this, &worker, body, shard] {
      body(shard);
      const std::scoped_lock lock{worker.ending};
      worker.over = true;
      shards_[shard]->driver().do_posted();
    }};
  }
}

ShardThreads::~ShardThreads() {
  for (const std::unique_ptr<Worker>& worker : workers_) worker->thread.join();
  shards_.front()->port().set_on_pause({});
  shards_.front()->set_other_counters([sum = sum_of_others()] { return sum; });
}

/// Has `work` done between two rounds of a shard's driver, or
/// at once if the driver has ended, and waits until it is done.
void ShardThreads::ask(std::size_t shard, const std::function<void()>& work) {
  Worker& worker = *workers_[shard - 1];
  std::promise<void> done;
  {
    const std::scoped_lock lock{worker.ending};
    if (worker.over) return work();
    shards_[shard]->driver().post([&] {
      work();
      done.set_value();
    });
  }
  done.get_future().wait();
}

EndpointCounters ShardThreads::sum_of_others() {
  EndpointCounters sum;
  for (std::size_t shard = 1; shard < shards_.size(); ++shard) {
    ask(shard, [&] { add(sum, shards_[shard]->counters()); });
  }
  return sum;
}

}  // namespace roce::live
