// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <isa-l/crc.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace bare {

#if defined(__x86_64__) && !defined(__AVX__)
/// True if the library may run its AVX-512 code, which needs VPCLMULQDQ: that leaves the upper register halves in use,
/// and SSE code after it is very slow.
inline const bool kLeavesUpperHalves = __builtin_cpu_supports("vpclmulqdq") != 0;
#else
inline constexpr bool kLeavesUpperHalves = false;
#endif

/// Calls the CRC library and nothing else: the CRC-32 of IEEE 802.3 over `size` bytes, continued from `crc`.
inline std::uint32_t crc(std::uint32_t crc, const std::uint8_t* bytes, std::size_t size) {
  const std::uint32_t result = crc32_gzip_refl(crc, bytes, size);
  if (kLeavesUpperHalves) asm volatile("vzeroupper");
  return result;
}

/// Returns the ICRC of an IPv4 packet without options that begins at `ip` and has `ip_length` bytes, the ICRC's four
/// included: copies and masks the headers, then runs the library over the copy and over the rest.
inline std::uint32_t icrc(const std::uint8_t* ip, std::size_t ip_length) {
  constexpr std::size_t prefix = 8;
  constexpr std::size_t headers = 20 + 8 + 12;
  std::array<std::uint8_t, prefix + headers> masked;
  std::memset(masked.data(), 0xFF, prefix);
  std::uint8_t* header = masked.data() + prefix;
  std::memcpy(header, ip, headers);
  header[1] = 0xFF;                // type of service
  header[8] = 0xFF;                // time to live
  header[10] = header[11] = 0xFF;  // IPv4 checksum
  header[26] = header[27] = 0xFF;  // UDP checksum
  header[28 + 4] = 0xFF;           // resv8a of the BTH
  const std::uint32_t state = crc32_gzip_refl(0, masked.data(), masked.size());
  return crc(state, ip + headers, ip_length - headers - 4);
}

}  // namespace bare
