// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "traffic.h"

namespace roce::bench {

/// Packets that stay in the cache: their plans, and the frames made from these.
class FrameSet {
 public:
  /// Makes the first `count` packets of the traffic.
  FrameSet(TrafficShape shape, std::size_t count);
  /// Makes SEND packets with `payload_bytes` each, in 256 KiB or less.
  explicit FrameSet(std::uint32_t payload_bytes);

  [[nodiscard]] std::size_t size() const { return frames_.size(); }
  [[nodiscard]] const std::vector<PlannedPacket>& planned() const { return planned_; }
  /// Returns the frames, each from its Ethernet header through its ICRC.
  [[nodiscard]] const std::vector<Bytes>& frames() const { return frames_; }

 private:
  void encode_all();

  std::vector<PlannedPacket> planned_;
  std::vector<std::byte> storage_;
  std::vector<Bytes> frames_;
};

/// Runs `work(i)`, which returns a number, for each `i` below `packets` in every iteration; reports the time for one.
template <typename Work>
void run(benchmark::State& state, std::size_t packets, Work work) {
  for (auto _ : state) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < packets; ++i) sum += work(i);
    benchmark::DoNotOptimize(sum);
  }
  state.counters["packet"] = benchmark::Counter(
      static_cast<double>(packets), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

/// Returns the frame as the C libraries and the bare loops take it.
[[nodiscard]] inline const std::uint8_t* octets(Bytes bytes) {
  return reinterpret_cast<const std::uint8_t*>(bytes.data());
}

}  // namespace roce::bench
