// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "bare/decode.h"
#include "bare/encode.h"

namespace roce::bench {

inline constexpr std::size_t kRethBytes = 16;

/// Ethernet, IPv4, UDP and BTH of an RC packet, and room for an extension header of zeros. The frame has `header_bytes`
/// and a payload of `bytes`, for which the IPv4 checksum is right as in our frames: the kernel may drop a malformed
/// frame earlier.
struct Headers {
  Headers(std::uint8_t opcode, const std::array<std::uint8_t, 6>& from, const std::array<std::uint8_t, 6>& to,
          std::size_t frame_header_bytes, std::size_t payload_bytes)
      : header_bytes(frame_header_bytes) {
    std::copy(to.begin(), to.end(), bytes.begin());
    std::copy(from.begin(), from.end(), bytes.begin() + 6);
    bytes[12] = 0x08;
    bytes[14] = 0x45;
    bytes[15] = 0x02;  // ECT(0)
    bytes[20] = 0x40;  // Don't Fragment
    bytes[22] = 64;
    bytes[23] = 17;
    for (const std::size_t address : {26U, 30U}) {
      bytes[address] = 192;
      bytes[address + 2] = 2;
    }
    bytes[29] = 1;
    bytes[33] = 2;
    const std::size_t ip_length = header_bytes - ip + (payload_bytes + 3) / 4 * 4 + 4;
    bytes[16] = static_cast<std::uint8_t>(ip_length >> 8U);
    bytes[17] = static_cast<std::uint8_t>(ip_length);
    std::uint32_t sum = 0;
    for (std::size_t i = ip; i < ip + 20; i += 2) sum += bare::load16(bytes.data() + i);
    sum = (sum & 0xFFFF) + (sum >> 16U);
    sum = ~((sum & 0xFFFF) + (sum >> 16U));
    bytes[24] = static_cast<std::uint8_t>(sum >> 8U);
    bytes[25] = static_cast<std::uint8_t>(sum);
    bytes[36] = 4791 >> 8;
    bytes[37] = 4791 & 0xFF;
    bytes[42] = opcode;
  }

  static constexpr std::size_t ip = 14;
  std::size_t header_bytes;
  std::array<std::uint8_t, bare::kHeaderBytes + kRethBytes> bytes{};
};

}  // namespace roce::bench
