// SPDX-License-Identifier: BSD-2-Clause
// Shards: each thread, on a processor of its own, has a pair of endpoints joined by memory and does the same work as
// every other. The reported time is wall-clock time, for the packets of all threads together.
#include <benchmark/benchmark.h>
#include <pthread.h>
#include <sched.h>

#include <bit>
#include <cstdint>

#include "endpoint_pair.h"

namespace roce::bench {

namespace {

constexpr std::uint32_t kLarge = 1 << 20;
constexpr std::uint32_t kSmall = 16;
constexpr std::uint32_t kBatch = 16;

/// Pins the calling thread, while the object exists, to processor `number` of those that the thread may use.
class Pinned {
 public:
  explicit Pinned(int number) {
    pthread_getaffinity_np(pthread_self(), sizeof before_, &before_);
    for (int processor = 0; processor < CPU_SETSIZE && !is_pinned_; ++processor) {
      if (!CPU_ISSET(processor, &before_) || number-- > 0) continue;
      cpu_set_t only;
      CPU_ZERO(&only);
      CPU_SET(processor, &only);
      is_pinned_ = pthread_setaffinity_np(pthread_self(), sizeof only, &only) == 0;
    }
  }
  ~Pinned() { pthread_setaffinity_np(pthread_self(), sizeof before_, &before_); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

  [[nodiscard]] bool is_pinned() const { return is_pinned_; }

 private:
  cpu_set_t before_{};
  bool is_pinned_ = false;
};

[[nodiscard]] PairShape of_shard(const benchmark::State& state, PairShape shape) {
  shape.shard_bits = static_cast<std::uint8_t>(std::bit_width(static_cast<unsigned>(state.threads() - 1)));
  shape.shard = static_cast<std::uint8_t>(state.thread_index());
  return shape;
}

/// Posts `batch` WRITEs of `bytes` at a time, each of which takes `packets` packets.
void write_over_and_over(benchmark::State& state, const PairShape& shape, std::uint32_t batch, std::uint32_t bytes,
                         std::uint64_t packets) {
  const Pinned pinned{state.thread_index()};
  EndpointPair pair{of_shard(state, shape)};
  std::uint64_t messages = 0;
  for (auto _ : state) {
    for (std::uint32_t i = 0; i < batch; ++i) pair.post(0, transport::WorkOpcode::write, bytes);
    pair.run();
    messages += batch;
  }
  if (!pinned.is_pinned()) return state.SkipWithError("each thread needs a processor of its own");
  if (!pair.all_completed(messages)) return state.SkipWithError("not every message completed");
  state.counters["packet"] =
      benchmark::Counter(static_cast<double>(messages * packets),
                         benchmark::Counter::kDefaults | benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void shards_large(benchmark::State& state) {
  const auto mtu = static_cast<std::uint32_t>(state.range(0));
  write_over_and_over(state, {.mtu = mtu, .region_bytes = kLarge}, 1, kLarge, kLarge / mtu);
}

void shards_small(benchmark::State& state) {
  write_over_and_over(state, {.region_bytes = kLarge, .messages_per_ack = kBatch}, kBatch, kSmall, 1);
}

BENCHMARK(shards_large)->Name("endpoint_shards_large")->Arg(1024)->Arg(4096)->Threads(1)->Threads(2)->UseRealTime();
BENCHMARK(shards_small)->Name("endpoint_shards_small")->Threads(1)->Threads(2)->UseRealTime();

}  // namespace

}  // namespace roce::bench
