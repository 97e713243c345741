// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace roce::link::detail {

/// Loads an unsigned integer from unaligned memory; `swapped` if it is in the other byte order.
template <typename T>
[[nodiscard]] inline T load(const std::byte* from, bool swapped) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  if (!swapped) return value;
  if constexpr (sizeof(T) == 2) {
    return static_cast<T>(__builtin_bswap16(value));
  } else if constexpr (sizeof(T) == 4) {
    return static_cast<T>(__builtin_bswap32(value));
  } else {
    static_assert(sizeof(T) == 8);
    return static_cast<T>(__builtin_bswap64(value));
  }
}

/// Returns `value` rounded up to a multiple of 4, as pcapng pads.
[[nodiscard]] constexpr std::size_t padded(std::size_t value) {
  return (value + 3) & ~std::size_t{3};
}

}  // namespace roce::link::detail
