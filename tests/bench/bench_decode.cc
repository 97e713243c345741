// SPDX-License-Identifier: BSD-2-Clause
// Decoding of 256 packets that stay in the cache, with each value used: by hand, by the library, by libtins. The
// argument is the MTU of the traffic.
#include <tins/ethernetII.h>
#include <tins/udp.h>

#include "bare/decode.h"
#include "frame_set.h"
#include "roce/wire/packet.h"

namespace roce::bench {

namespace {

constexpr std::size_t kPackets = 256;

FrameSet frames_of(const benchmark::State& state) {
  return FrameSet{{.mtu = static_cast<std::uint32_t>(state.range(0))}, kPackets};
}

/// Returns the sum of all fields of a packet, so that the compiler can leave none out.
[[gnu::always_inline]] inline std::uint64_t digest(Bytes frame) {
  bare::Decoded packet{};
  if (!bare::decode(octets(frame), frame.size(), packet)) return 0;
  return packet.opcode + packet.pad + std::uint64_t{packet.ack_req} + packet.p_key + packet.dest_qp + packet.psn +
         packet.payload_length + packet.payload[0] + packet.virtual_address + packet.r_key + packet.dma_length +
         packet.aeth + packet.immediate;
}

[[gnu::always_inline]] inline std::uint64_t digest(const Packet& packet) {
  if (!packet.is_roce()) return 0;
  const Bth bth = packet.bth();
  std::uint64_t sum = static_cast<std::uint64_t>(bth.opcode) + bth.pad_count + std::uint64_t{bth.ack_req} +
                      bth.p_key.value() + bth.dest_qp.value() + bth.psn.value() + packet.payload_length() +
                      std::to_integer<std::uint64_t>(packet.bytes()[packet.payload_offset()]);
  if (const auto reth = packet.get<Reth>()) {
    sum += reth->virtual_address + reth->r_key.value() + reth->dma_length;
  }
  if (const auto aeth = packet.get<Aeth>()) sum += std::uint32_t{aeth->syndrome.value()} << 24 | aeth->msn.value();
  if (const auto immdt = packet.get<ImmDt>()) sum += immdt->data;
  return sum;
}

void decode_bare(benchmark::State& state) {
  const FrameSet set = frames_of(state);
  run(state, set.size(), [&](std::size_t i) { return digest(set.frames()[i]); });
}

void decode_roce(benchmark::State& state) {
  const FrameSet set = frames_of(state);
  for (const Bytes frame : set.frames()) {
    if (digest(parse_frame(frame, LinkType::ethernet)) != digest(frame)) {
      return state.SkipWithError("the bare loop decodes something else");
    }
  }
  run(state, set.size(), [&](std::size_t i) { return digest(parse_frame(set.frames()[i], LinkType::ethernet)); });
}

/// Decodes from the BTH on, as a program with a UDP socket does.
void decode_roce_transport(benchmark::State& state) {
  const FrameSet set = frames_of(state);
  const NetMeta net = parse_frame(set.frames()[0], LinkType::ethernet).net();
  constexpr std::size_t bth = kSize<Ethernet> + kSize<Ipv4> + kSize<Udp>;
  run(state, set.size(), [&](std::size_t i) { return digest(parse_transport(set.frames()[i].subspan(bth), net)); });
}

/// Decodes with libtins, which does not know RoCE: Ethernet, IPv4 and UDP only, and the rest as bytes.
void decode_libtins(benchmark::State& state) {
  const FrameSet set = frames_of(state);
  run(state, set.size(), [&](std::size_t i) -> std::uint64_t {
    const Bytes frame = set.frames()[i];
    const Tins::EthernetII packet{octets(frame), static_cast<std::uint32_t>(frame.size())};
    const auto* udp = packet.find_pdu<Tins::UDP>();
    return udp == nullptr ? 0 : udp->dport();
  });
}

BENCHMARK(decode_bare)->Arg(64)->Arg(1024);
BENCHMARK(decode_roce)->Arg(64)->Arg(1024);
BENCHMARK(decode_roce_transport)->Arg(64)->Arg(1024);
BENCHMARK(decode_libtins)->Arg(64)->Arg(1024);

}  // namespace

}  // namespace roce::bench
