// SPDX-License-Identifier: BSD-2-Clause
// Building frames with their ICRC, from values by the library and from a template by hand: SEND packets by payload
// size, and traffic by MTU.
#include <algorithm>

#include "bare/encode.h"
#include "frame_set.h"

namespace roce::bench {

namespace {

constexpr std::size_t kPackets = 256;

/// Where frames are built: a few places in turn, as in a transmit ring.
class Ring {
 public:
  [[nodiscard]] std::span<std::byte> slot(std::size_t i) {
    return std::span{memory_}.subspan(i % kSlots * kMaxFrame, kMaxFrame);
  }

 private:
  static constexpr std::size_t kSlots = 16;
  std::vector<std::byte> memory_ = std::vector<std::byte>(kSlots * kMaxFrame);
};

void encode_bare(benchmark::State& state, const FrameSet& set) {
  std::vector<std::size_t> header_bytes;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const std::size_t behind_headers = (set.planned()[i].payload.size() + 3) / 4 * 4 + 4;
    header_bytes.push_back(set.frames()[i].size() - behind_headers);
  }
  Ring ring;
  const auto encode_one = [&](std::size_t i) {
    const PlannedPacket& packet = set.planned()[i];
    return bare::encode(octets(set.frames()[i]), header_bytes[i], packet.bth.psn.value(), octets(packet.payload),
                        packet.payload.size(), reinterpret_cast<std::uint8_t*>(ring.slot(i).data()));
  };
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (!std::ranges::equal(ring.slot(i).first(encode_one(i)), set.frames()[i])) {
      return state.SkipWithError("the bare loop builds another frame");
    }
  }
  run(state, set.size(), encode_one);
}

void encode_roce(benchmark::State& state, const FrameSet& set) {
  Ring ring;
  run(state, set.size(), [&](std::size_t i) { return encode(set.planned()[i], ring.slot(i)); });
}

FrameSet sends_of(const benchmark::State& state) {
  return FrameSet{static_cast<std::uint32_t>(state.range(0))};
}

FrameSet traffic_of(const benchmark::State& state) {
  return FrameSet{{.mtu = static_cast<std::uint32_t>(state.range(0))}, kPackets};
}

void encode_bare_send(benchmark::State& state) {
  encode_bare(state, sends_of(state));
}
void encode_roce_send(benchmark::State& state) {
  encode_roce(state, sends_of(state));
}
void encode_bare_mix(benchmark::State& state) {
  encode_bare(state, traffic_of(state));
}
void encode_roce_mix(benchmark::State& state) {
  encode_roce(state, traffic_of(state));
}

BENCHMARK(encode_bare_send)->Arg(64)->Arg(1024)->Arg(4096);
BENCHMARK(encode_roce_send)->Arg(64)->Arg(1024)->Arg(4096);
BENCHMARK(encode_bare_mix)->Arg(64)->Arg(1024)->Arg(4096);
BENCHMARK(encode_roce_mix)->Arg(64)->Arg(1024)->Arg(4096);

}  // namespace

}  // namespace roce::bench
