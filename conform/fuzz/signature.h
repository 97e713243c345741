// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string_view>

namespace roce::conform::fuzz {

/// Mixes a number into a signature, which stands for something that happened.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t signature, std::uint64_t number) {
  signature = (signature ^ number) * 0x9E37'79B9'7F4A'7C15U;
  return signature ^ signature >> 29U;
}

/// Returns the hash of a text (FNV-1a), which is the same on all machines.
[[nodiscard]] constexpr std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325U;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x0000'0100'0000'01B3U;
  return hash;
}

}  // namespace roce::conform::fuzz
