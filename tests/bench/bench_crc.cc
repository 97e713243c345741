// SPDX-License-Identifier: BSD-2-Clause
// The ICRC by payload size: the CRC library over the covered bytes, our CRC over them, and the ICRC with its masking.
#include "bare/crc.h"
#include "frame_set.h"
#include "roce/wire/icrc.h"
#include "roce/wire/packet.h"

namespace roce::bench {

namespace {

constexpr std::size_t kIpOffset = kSize<Ethernet>;
constexpr std::size_t kIcrcSize = 4;

Bytes covered(Bytes frame) {
  return frame.subspan(kIpOffset, frame.size() - kIpOffset - kIcrcSize);
}

FrameSet frames_of(const benchmark::State& state) {
  return FrameSet{static_cast<std::uint32_t>(state.range(0))};
}

void crc_library(benchmark::State& state) {
  const FrameSet set = frames_of(state);
  run(state, set.size(), [&](std::size_t i) {
    const Bytes bytes = covered(set.frames()[i]);
    return bare::crc(0, octets(bytes), bytes.size());
  });
}

void crc_roce(benchmark::State& state) {
  const FrameSet set = frames_of(state);
  run(state, set.size(), [&](std::size_t i) { return crc32(0, covered(set.frames()[i])); });
}

void icrc_bare(benchmark::State& state) {
  const FrameSet set = frames_of(state);
  run(state, set.size(), [&](std::size_t i) {
    const Bytes frame = set.frames()[i];
    return bare::icrc(octets(frame) + kIpOffset, frame.size() - kIpOffset);
  });
}

void icrc_ipv4(benchmark::State& state) {
  const FrameSet set = frames_of(state);
  for (const Bytes frame : set.frames()) {
    if (compute_icrc(covered(frame), HeaderId::ipv4, kSize<Ipv4> + kSize<Udp>) !=
        bare::icrc(octets(frame) + kIpOffset, frame.size() - kIpOffset)) {
      return state.SkipWithError("the bare loop has another ICRC");
    }
  }
  run(state, set.size(),
      [&](std::size_t i) { return compute_icrc(covered(set.frames()[i]), HeaderId::ipv4, kSize<Ipv4> + kSize<Udp>); });
}

void icrc_ipv6(benchmark::State& state) {
  const FrameSet set = frames_of(state);
  std::vector<std::vector<std::byte>> packets;
  for (const PlannedPacket& packet : set.planned()) {
    std::vector<std::byte>& out = packets.emplace_back(kMaxFrame);
    const Ipv6 ipv6{.source = Gid::from_ipv4(packet.ipv4.source),
                    .destination = Gid::from_ipv4(packet.ipv4.destination)};
    FrameBuilder builder{out};
    builder.add(ipv6).add(packet.udp).add(packet.bth).payload(packet.payload);
    out.resize(builder.finish().value_or(kIcrcSize) - kIcrcSize);
  }
  run(state, set.size(),
      [&](std::size_t i) { return compute_icrc(packets[i], HeaderId::ipv6, kSize<Ipv6> + kSize<Udp>); });
}

void icrc_check(benchmark::State& state) {
  const FrameSet set = frames_of(state);
  std::vector<Packet> packets;
  for (const Bytes frame : set.frames()) packets.push_back(parse_frame(frame, LinkType::ethernet));
  run(state, set.size(),
      [&](std::size_t i) -> std::uint32_t { return check_icrc(packets[i]).status == IcrcStatus::good ? 1 : 0; });
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  for (const int payload_bytes : {64, 1024, 4096}) benchmark->Arg(payload_bytes);
}

BENCHMARK(crc_library)->Apply(sizes);
BENCHMARK(crc_roce)->Apply(sizes);
BENCHMARK(icrc_bare)->Apply(sizes);
BENCHMARK(icrc_ipv4)->Apply(sizes);
BENCHMARK(icrc_ipv6)->Apply(sizes);
BENCHMARK(icrc_check)->Apply(sizes);

}  // namespace

}  // namespace roce::bench
