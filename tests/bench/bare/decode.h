// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace bare {

/// The fields of an RC packet that a hand-written loop would keep.
struct Decoded {
  std::uint8_t opcode;
  std::uint8_t pad;
  bool ack_req;
  std::uint16_t p_key;
  std::uint32_t dest_qp;
  std::uint32_t psn;
  const std::uint8_t* payload;
  std::uint32_t payload_length;
  std::uint64_t virtual_address;  ///< only with a RETH
  std::uint32_t r_key;            ///< only with a RETH
  std::uint32_t dma_length;       ///< only with a RETH
  std::uint32_t aeth;             ///< only with an AETH
  std::uint32_t immediate;        ///< only with immediate data
  std::uint32_t ip_length;
};

enum Extension : std::uint8_t { kNone = 0, kReth = 1, kAeth = 2, kImmDt = 4 };

/// The extension headers of the RC opcodes 0 … 17.
inline constexpr std::array<std::uint8_t, 18> kExtensions{
    kNone, kNone, kNone, kImmDt, kNone, kImmDt,          // SEND
    kReth, kNone, kNone, kImmDt, kReth, kReth | kImmDt,  // RDMA WRITE
    kReth, kAeth, kNone, kAeth,  kAeth, kAeth};          // RDMA READ, ACK

inline std::uint32_t load16(const std::uint8_t* at) {
  std::uint16_t value;
  std::memcpy(&value, at, sizeof value);
  return __builtin_bswap16(value);
}

inline std::uint32_t load32(const std::uint8_t* at) {
  std::uint32_t value;
  std::memcpy(&value, at, sizeof value);
  return __builtin_bswap32(value);
}

inline std::uint64_t load64(const std::uint8_t* at) {
  std::uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return __builtin_bswap64(value);
}

/// Decodes Ethernet, IPv4 without options, UDP to 4791 and an RC packet; returns false for anything else. The fields of
/// extension headers that the packet does not have keep their values.
inline bool decode(const std::uint8_t* frame, std::size_t size, Decoded& out) {
  constexpr std::size_t ip = 14;
  constexpr std::size_t udp = ip + 20;
  constexpr std::size_t bth = udp + 8;
  if (size < bth + 12 + 4) return false;
  if (load16(frame + 12) != 0x0800 || frame[ip] != 0x45 || frame[ip + 9] != 17 || load16(frame + udp + 2) != 4791) {
    return false;
  }
  out.opcode = frame[bth];
  if (out.opcode >= kExtensions.size()) return false;
  out.pad = frame[bth + 1] >> 4 & 3;
  out.p_key = static_cast<std::uint16_t>(load16(frame + bth + 2));
  out.dest_qp = load32(frame + bth + 4) & 0xFF'FFFF;
  const std::uint32_t last_word = load32(frame + bth + 8);
  out.ack_req = last_word >> 31 != 0;
  out.psn = last_word & 0xFF'FFFF;

  const std::uint8_t* next = frame + bth + 12;
  const std::uint8_t extensions = kExtensions[out.opcode];
  const std::uint8_t* end = frame + size;
  if ((extensions & kReth) != 0) {
    if (end - next < 16) return false;
    out.virtual_address = load64(next);
    out.r_key = load32(next + 8);
    out.dma_length = load32(next + 12);
    next += 16;
  }
  if ((extensions & kAeth) != 0) {
    if (end - next < 4) return false;
    out.aeth = load32(next);
    next += 4;
  }
  if ((extensions & kImmDt) != 0) {
    if (end - next < 4) return false;
    out.immediate = load32(next);
    next += 4;
  }
  out.ip_length = load16(frame + ip + 2);
  const std::uint8_t* packet_end = frame + ip + out.ip_length;
  if (packet_end > end || packet_end - next < 4 + out.pad) return false;
  out.payload = next;
  out.payload_length = static_cast<std::uint32_t>(packet_end - next) - 4 - out.pad;
  return true;
}

}  // namespace bare
