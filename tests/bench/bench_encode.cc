// SPDX-License-Identifier: BSD-2-Clause
// Building frames with their ICRC: by hand from a template of the whole packet, by the library from header values
// behind a template of the flow, and by the library from header values alone. SEND packets by payload size, and
// traffic by MTU.
#include <algorithm>
#include <map>
#include <tuple>

#include "bare/encode.h"
#include "frame_set.h"

namespace roce::bench {

namespace {

constexpr std::size_t kPackets = 256;

/// The memory in which frames are built: a few slots in turn, as in a transmit ring.
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

/// The templates of all flows of a set of packets, and the template of each packet.
class Flows {
 public:
  explicit Flows(const FrameSet& set) {
    std::map<std::tuple<Ipv4Address, std::uint16_t>, std::size_t> known;
    for (const PlannedPacket& packet : set.planned()) {
      const auto [flow, is_new] = known.try_emplace({packet.ipv4.source, packet.udp.source_port}, templates_.size());
      if (is_new) templates_.push_back(flow_of(packet));
      of_packet_.push_back(flow->second);
    }
  }

  [[nodiscard]] const FrameTemplate& of(std::size_t packet) const { return templates_[of_packet_[packet]]; }

 private:
  std::vector<FrameTemplate> templates_;
  std::vector<std::size_t> of_packet_;
};

void encode_roce(benchmark::State& state, const FrameSet& set) {
  const Flows flows{set};
  Ring ring;
  const auto encode_one = [&](std::size_t i) {
    return encode_behind(flows.of(i), set.planned()[i], ring.slot(i).data());
  };
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (!std::ranges::equal(ring.slot(i).first(encode_one(i)), set.frames()[i])) {
      return state.SkipWithError("the template makes another frame than the builder");
    }
  }
  run(state, set.size(), encode_one);
}

void encode_builder(benchmark::State& state, const FrameSet& set) {
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
void encode_builder_send(benchmark::State& state) {
  encode_builder(state, sends_of(state));
}
void encode_bare_mix(benchmark::State& state) {
  encode_bare(state, traffic_of(state));
}
void encode_roce_mix(benchmark::State& state) {
  encode_roce(state, traffic_of(state));
}
void encode_builder_mix(benchmark::State& state) {
  encode_builder(state, traffic_of(state));
}

BENCHMARK(encode_bare_send)->Arg(64)->Arg(1024)->Arg(4096);
BENCHMARK(encode_roce_send)->Arg(64)->Arg(1024)->Arg(4096);
BENCHMARK(encode_builder_send)->Arg(64)->Arg(1024)->Arg(4096);
BENCHMARK(encode_bare_mix)->Arg(64)->Arg(1024)->Arg(4096);
BENCHMARK(encode_roce_mix)->Arg(64)->Arg(1024)->Arg(4096);
BENCHMARK(encode_builder_mix)->Arg(64)->Arg(1024)->Arg(4096);

}  // namespace

}  // namespace roce::bench
