// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "roce/wire/icrc.h"

/// A second ICRC, made from the specification one bit at a time: the fast one is compared with it. The register shifts
/// towards x^31, as polynomials are written down, so that not even its form is that of the code under test.
namespace roce::test {

enum class NetworkKind : std::uint8_t { grh, ipv4, ipv6 };

/// Returns the CRC-32 of `bytes`, each byte fed least significant bit first, without the final inversion.
inline std::uint32_t crc_register(std::span<const std::uint8_t> bytes, std::uint32_t polynomial) {
  std::uint32_t state = 0xFFFF'FFFF;
  for (const std::uint8_t byte : bytes) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      const bool in = (byte >> bit & 1) != 0;
      const bool out = (state & 0x8000'0000) != 0;
      state <<= 1;
      if (in != out) state ^= polynomial;
    }
  }
  return state;
}

/// Returns the bits of `value` in reverse order.
inline std::uint32_t mirrored(std::uint32_t value) {
  std::uint32_t result = 0;
  for (unsigned bit = 0; bit < 32; ++bit) {
    if ((value >> bit & 1) != 0) result |= std::uint32_t{1} << (31 - bit);
  }
  return result;
}

/// Returns the ICRC, first wire byte in the low bits, of `covered`: everything from the network header up to
/// the ICRC; its last `pad` bytes are pad. With `mistakes` it is computed wrongly in these ways
/// (`other_ip_id` is up to the caller: it changes the bytes).
inline std::uint32_t reference_icrc(std::span<const std::byte> covered, NetworkKind network, std::size_t bth_offset,
                                    const std::set<IcrcMistake>& mistakes = {}, std::size_t pad = 0) {
  std::vector<std::uint8_t> bytes;
  for (const std::byte byte : covered) bytes.push_back(std::to_integer<std::uint8_t>(byte));
  const auto wrong = [&](IcrcMistake mistake) { return mistakes.contains(mistake); };
  const auto ones = [&](std::size_t at, unsigned bits, IcrcMistake unless) {
    if (!wrong(unless)) bytes.at(at) = static_cast<std::uint8_t>(bytes.at(at) | bits);
  };
  if (network == NetworkKind::ipv4) {
    ones(1, 0xFF, IcrcMistake::traffic_class_not_masked);
    ones(8, 0xFF, IcrcMistake::ttl_not_masked);
    ones(10, 0xFF, IcrcMistake::ip_checksum_not_masked);
    ones(11, 0xFF, IcrcMistake::ip_checksum_not_masked);
  } else {
    ones(0, 0x0F, IcrcMistake::traffic_class_not_masked);
    ones(1, 0xF0, IcrcMistake::traffic_class_not_masked);
    ones(1, 0x0F, IcrcMistake::flow_label_not_masked);
    ones(2, 0xFF, IcrcMistake::flow_label_not_masked);
    ones(3, 0xFF, IcrcMistake::flow_label_not_masked);
    ones(7, 0xFF, IcrcMistake::ttl_not_masked);
  }
  if (network != NetworkKind::grh) {
    ones(bth_offset - 2, 0xFF, IcrcMistake::udp_checksum_not_masked);
    ones(bth_offset - 1, 0xFF, IcrcMistake::udp_checksum_not_masked);
  }
  ones(bth_offset + 4, 0xFF, IcrcMistake::resv8a_not_masked);
  if (wrong(IcrcMistake::pad_not_covered)) bytes.resize(bytes.size() - pad);
  if (!wrong(IcrcMistake::lrh_prefix_missing)) bytes.insert(bytes.begin(), 8, 0xFF);

  constexpr std::uint32_t kEthernetPolynomial = 0x04C1'1DB7;
  constexpr std::uint32_t kCastagnoliPolynomial = 0x1EDC'6F41;
  std::uint32_t state = crc_register(bytes, wrong(IcrcMistake::crc32c) ? kCastagnoliPolynomial : kEthernetPolynomial);
  if (!wrong(IcrcMistake::not_inverted)) state = ~state;
  std::uint32_t icrc = mirrored(state);
  if (wrong(IcrcMistake::byte_swapped)) {
    icrc = icrc >> 24 | (icrc >> 8 & 0xFF00) | (icrc << 8 & 0xFF'0000) | icrc << 24;
  }
  return wrong(IcrcMistake::bit_reversed) ? mirrored(icrc) : icrc;
}

/// Returns the four bytes of an ICRC as they follow the pad.
inline std::array<std::byte, 4> icrc_bytes(std::uint32_t icrc) {
  return {static_cast<std::byte>(icrc & 0xFF), static_cast<std::byte>(icrc >> 8 & 0xFF),
          static_cast<std::byte>(icrc >> 16 & 0xFF), static_cast<std::byte>(icrc >> 24)};
}

}  // namespace roce::test
