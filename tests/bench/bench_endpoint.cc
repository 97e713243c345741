// SPDX-License-Identifier: BSD-2-Clause
// Two endpoints in one thread, joined by memory: the cost of messages, posting and completing included, compared with a
// bare loop that builds, checks and copies the same packets without a state machine.
#include <algorithm>
#include <cstring>

#include "bare/endpoint.h"
#include "endpoint_pair.h"
#include "frame_set.h"

namespace roce::bench {

namespace {

constexpr std::uint32_t kLarge = 1 << 20;
constexpr std::uint32_t kSmall = 16;
constexpr std::uint32_t kBatch = 16;

void count_bytes(benchmark::State& state, std::uint64_t bytes, std::uint64_t packets) {
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
  state.counters["packet"] =
      benchmark::Counter(static_cast<double>(packets),
                         benchmark::Counter::kDefaults | benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

/// Measures messages of 1 MiB, one at a time.
template <transport::WorkOpcode kOpcode>
void endpoint_large(benchmark::State& state) {
  EndpointPair pair{{.mtu = static_cast<std::uint32_t>(state.range(0)), .region_bytes = kLarge}};
  std::uint64_t messages = 0;
  for (auto _ : state) {
    pair.post(0, kOpcode, kLarge);
    pair.run();
    ++messages;
  }
  if (!pair.all_completed(messages)) return state.SkipWithError("not every message completed");
  if (!pair.memories_equal(kLarge)) return state.SkipWithError("the data did not arrive");
  count_bytes(state, messages * kLarge, messages * (kLarge / static_cast<std::uint64_t>(state.range(0))));
}

void bare_large(benchmark::State& state) {
  const auto mtu = static_cast<std::uint32_t>(state.range(0));
  bare::Endpoint endpoint{kLarge};
  const std::uint64_t packets = kLarge / mtu;
  std::uint64_t messages = 0;
  for (auto _ : state) {
    for (std::uint64_t i = 0; i < packets; ++i) endpoint.data_packet(i * mtu, mtu);
    endpoint.ack_packet();
    ++messages;
  }
  if (!endpoint.copied_all()) return state.SkipWithError("the bare loop found a wrong ICRC");
  count_bytes(state, messages * kLarge, messages * packets);
}

/// Measures messages of 16 B, posted 16 at a time.
template <transport::WorkOpcode kOpcode>
void endpoint_small(benchmark::State& state) {
  EndpointPair pair{{.region_bytes = kLarge,
                     .receives_ahead = 2 * kBatch,
                     .messages_per_ack = static_cast<std::uint32_t>(state.range(0))}};
  std::uint64_t messages = 0;
  for (auto _ : state) {
    for (std::uint32_t i = 0; i < kBatch; ++i) pair.post(0, kOpcode, kSmall);
    pair.run();
    messages += kBatch;
  }
  if (!pair.all_completed(messages)) return state.SkipWithError("not every message completed");
  count_bytes(state, messages * kSmall, messages);
}

void bare_small(benchmark::State& state) {
  const auto messages_per_ack = static_cast<std::uint32_t>(state.range(0));
  bare::Endpoint endpoint{kLarge};
  std::uint64_t messages = 0;
  for (auto _ : state) {
    for (std::uint32_t i = 0; i < kBatch; ++i) {
      endpoint.data_packet(0, kSmall);
      if ((i + 1) % messages_per_ack == 0) endpoint.ack_packet();
    }
    messages += kBatch;
  }
  if (!endpoint.copied_all()) return state.SkipWithError("the bare loop found a wrong ICRC");
  count_bytes(state, messages * kSmall, messages);
}

/// Measures WRITEs of 16 B on many QPs in turn: `state.range(1)` on one QP before the next, 1024 under way at once.
void endpoint_qps(benchmark::State& state) {
  const auto qps = static_cast<std::uint32_t>(state.range(0));
  const auto burst = static_cast<std::uint32_t>(state.range(1));
  EndpointPair pair{{.region_bytes = kLarge, .qps = qps, .max_send = 16}};
  constexpr std::uint32_t in_flight = 1024;
  std::uint64_t messages = 0;
  std::uint32_t next = 0;
  // Not measured: the first messages of a QP use memory that was never touched.
  for (std::uint32_t qp = 0; qp < qps; ++qp) {
    for (std::uint32_t i = 0; i < kBatch; ++i) pair.post(qp, transport::WorkOpcode::write, kSmall);
    pair.run();
    messages += kBatch;
  }
  const std::uint64_t before = messages;
  for (auto _ : state) {
    std::uint32_t posted = 0;
    for (std::uint32_t turn = 0; turn < in_flight / burst; ++turn) {
      for (std::uint32_t i = 0; i < burst; ++i) pair.post(next, transport::WorkOpcode::write, kSmall);
      next = next + 1 == qps ? 0 : next + 1;
      posted += burst;
      // When the queues of all QPs are full, their requests are sent first.
      if (posted == qps * kBatch) {
        pair.run();
        posted = 0;
      }
    }
    pair.run();
    messages += in_flight;
  }
  if (!pair.all_completed(messages)) return state.SkipWithError("not every message completed");
  count_bytes(state, (messages - before) * kSmall, messages - before);
  state.counters["bytes_per_idle_qp"] = static_cast<double>(pair.memory_per_qp());
}

BENCHMARK(endpoint_large<transport::WorkOpcode::write>)->Name("endpoint_write")->Arg(1024)->Arg(4096);
BENCHMARK(endpoint_large<transport::WorkOpcode::send>)->Name("endpoint_send")->Arg(1024)->Arg(4096);
BENCHMARK(endpoint_large<transport::WorkOpcode::read>)->Name("endpoint_read")->Arg(1024)->Arg(4096);
BENCHMARK(bare_large)->Name("endpoint_bare")->Arg(1024)->Arg(4096);
BENCHMARK(endpoint_small<transport::WorkOpcode::write>)->Name("endpoint_small_write")->Arg(16)->Arg(1);
BENCHMARK(endpoint_small<transport::WorkOpcode::send>)->Name("endpoint_small_send")->Arg(16)->Arg(1);
BENCHMARK(bare_small)->Name("endpoint_bare_small")->Arg(16)->Arg(1);
BENCHMARK(endpoint_qps)->ArgsProduct({{1, 100, 10000}, {16, 1}});

}  // namespace

}  // namespace roce::bench
