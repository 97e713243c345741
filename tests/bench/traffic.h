// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <random>
#include <span>

#include "roce/wire/aeth.h"
#include "roce/wire/bth.h"
#include "roce/wire/ethernet.h"
#include "roce/wire/frame_builder.h"
#include "roce/wire/frame_template.h"
#include "roce/wire/immdt.h"
#include "roce/wire/reth.h"

namespace roce::bench {

/// The largest frame that `encode` writes.
inline constexpr std::size_t kMaxFrame = 4096 + 128;

inline constexpr std::size_t kIcrcBytes = 4;

/// One packet of the traffic, as values.
struct PlannedPacket {
  Ethernet ethernet{};
  Ipv4 ipv4{};
  Udp udp{};
  Bth bth{};
  Reth reth{};  ///< used if the opcode has a RETH; the same rule holds for the headers below
  Aeth aeth{};
  ImmDt immdt{};
  Bytes payload;  ///< bytes with static storage duration
};

/// Writes a planned packet with its ICRC and returns its length; `out` has room for `kMaxFrame` bytes.
inline std::size_t encode(const PlannedPacket& packet, std::span<std::byte> out) {
  FrameBuilder frame{out};
  frame.add(packet.ethernet).add(packet.ipv4).add(packet.udp).add(packet.bth);
  for (const HeaderId id : opcode_info(packet.bth.opcode).headers()) {
    switch (id) {
      case HeaderId::reth:
        frame.add(packet.reth);
        break;
      case HeaderId::aeth:
        frame.add(packet.aeth);
        break;
      case HeaderId::immdt:
        frame.add(packet.immdt);
        break;
      default:
        break;
    }
  }
  frame.payload(packet.payload);
  return frame.finish().value_or(0);
}

/// Returns the template of a planned packet's flow: all that its packets have in front of the BTH.
[[nodiscard]] FrameTemplate flow_of(const PlannedPacket& packet);

/// Writes the frame of `encode` with the template of the packet's flow, as an endpoint sends. Returns its length.
inline std::size_t encode_behind(const FrameTemplate& flow, const PlannedPacket& packet, std::byte* frame) {
  const std::size_t pad = (0 - packet.payload.size()) & 3;
  std::byte* const bth = frame + flow.header_bytes();
  Bth header = packet.bth;
  header.pad_count = static_cast<std::uint8_t>(pad);
  write(header, bth);
  std::byte* out = bth + kSize<Bth>;
  for (const HeaderId id : opcode_info(packet.bth.opcode).headers()) {
    switch (id) {
      case HeaderId::reth:
        write(packet.reth, out);
        out += kSize<Reth>;
        break;
      case HeaderId::aeth:
        write(packet.aeth, out);
        out += kSize<Aeth>;
        break;
      case HeaderId::immdt:
        write(packet.immdt, out);
        out += kSize<ImmDt>;
        break;
      default:
        break;
    }
  }
  if (!packet.payload.empty()) std::memcpy(out, packet.payload.data(), packet.payload.size());
  out += packet.payload.size();
  std::memset(out, 0, pad);
  out += pad + kIcrcBytes;
  const auto transport_bytes = static_cast<std::size_t>(out - bth);
  flow.write_headers(frame, transport_bytes, packet.ipv4.identification);
  flow.seal(bth, transport_bytes, packet.ipv4.identification);
  return static_cast<std::size_t>(out - frame);
}

/// The shape of the traffic.
struct TrafficShape {
  std::uint32_t mtu = 1024;  ///< most payload bytes of a packet, up to 4096
  /// True: every message is one packet with `mtu` bytes. False: messages have one to eight packets, and the last packet
  /// of one in three is shorter.
  bool single_packets = false;
};

/// RC traffic between two hosts over 16 QPs: SEND, SEND with immediate, RDMA WRITE and RDMA READ with their responses,
/// in an order that depends only on the shape.
class Traffic {
 public:
  explicit Traffic(TrafficShape shape) : shape_(shape) {}

  /// Returns the next packet. The traffic never ends.
  [[nodiscard]] PlannedPacket next();

 private:
  static constexpr std::uint32_t kQueuePairs = 16;
  enum class Kind : std::uint8_t { send, send_imm, write, read };
  enum class Host : std::uint8_t { requester, responder };

  void plan_message();
  void plan_data(Host from, std::uint32_t queue_pair, Kind kind, std::uint32_t packets, std::uint32_t last_bytes);
  PlannedPacket& plan(Host from, std::uint32_t queue_pair, Opcode opcode);
  [[nodiscard]] std::uint32_t random(std::uint32_t below) { return static_cast<std::uint32_t>(random_() % below); }

  TrafficShape shape_;
  std::mt19937 random_{1};
  std::deque<PlannedPacket> planned_;
  std::array<Psn, kQueuePairs> next_psn_{};
  std::array<Msn, kQueuePairs> completed_{};
};

}  // namespace roce::bench
