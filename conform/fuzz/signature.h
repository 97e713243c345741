// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

namespace roce::conform::fuzz {

/// Mixes a number into a signature, which stands for something that happened.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t signature, std::uint64_t number) {
  signature = (signature ^ number) * 0x9E37'79B9'7F4A'7C15U;
  return signature ^ signature >> 29U;
}

}  // namespace roce::conform::fuzz
