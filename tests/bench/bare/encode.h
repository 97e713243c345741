// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "bare/crc.h"

namespace bare {

/// Bytes of Ethernet, IPv4, UDP and BTH.
inline constexpr std::size_t kHeaderBytes = 14 + 20 + 8 + 12;

/// Does the least that sending a packet takes: copies the bytes in front of the payload from a template, sets PSN and
/// lengths, copies payload and pad, and adds the ICRC. Pad count and IPv4 checksum stay those of the template. Returns
/// the length of the frame.
inline std::size_t encode(const std::uint8_t* headers, std::size_t header_bytes, std::uint32_t psn,
                          const std::uint8_t* payload, std::size_t payload_bytes, std::uint8_t* out) {
  constexpr std::size_t ip = 14;
  std::memcpy(out, headers, header_bytes);
  out[kHeaderBytes - 3] = static_cast<std::uint8_t>(psn >> 16);
  out[kHeaderBytes - 2] = static_cast<std::uint8_t>(psn >> 8);
  out[kHeaderBytes - 1] = static_cast<std::uint8_t>(psn);
  const std::size_t pad = (4 - payload_bytes % 4) % 4;
  const std::size_t length = header_bytes + payload_bytes + pad + 4;
  const std::size_t ip_length = length - ip;
  const std::size_t udp_length = ip_length - 20;
  out[ip + 2] = static_cast<std::uint8_t>(ip_length >> 8);
  out[ip + 3] = static_cast<std::uint8_t>(ip_length);
  out[ip + 24] = static_cast<std::uint8_t>(udp_length >> 8);
  out[ip + 25] = static_cast<std::uint8_t>(udp_length);
  if (payload_bytes != 0) std::memcpy(out + header_bytes, payload, payload_bytes);
  std::memset(out + header_bytes + payload_bytes, 0, pad);
  const std::uint32_t value = icrc(out + ip, ip_length);
  std::memcpy(out + length - 4, &value, sizeof value);
  return length;
}

}  // namespace bare
