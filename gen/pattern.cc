// SPDX-License-Identifier: BSD-2-Clause
#include "gen/pattern.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace roce::gen {

namespace {

constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15;

[[nodiscard]] std::array<std::byte, 8> word(std::uint64_t seed, std::size_t index) {
  std::uint64_t value = (seed + index + 1) * kFactor;
  if constexpr (std::endian::native == std::endian::big) value = __builtin_bswap64(value);
  return std::bit_cast<std::array<std::byte, 8>>(value);
}

}  // namespace

void fill_pattern(std::span<std::byte> memory, std::uint64_t seed) {
  for (std::size_t at = 0; at < memory.size(); at += 8) {
    const auto bytes = word(seed, at / 8);
    std::memcpy(memory.data() + at, bytes.data(), std::min<std::size_t>(8, memory.size() - at));
  }
}

std::optional<std::size_t> find_wrong_byte(std::span<const std::byte> memory, std::uint64_t seed) {
  for (std::size_t at = 0; at < memory.size(); at += 8) {
    const auto bytes = word(seed, at / 8);
    const std::size_t count = std::min<std::size_t>(8, memory.size() - at);
    if (std::memcmp(memory.data() + at, bytes.data(), count) == 0) continue;
    const auto wrong = std::mismatch(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count),
                                     memory.begin() + static_cast<std::ptrdiff_t>(at));
    return at + static_cast<std::size_t>(wrong.first - bytes.begin());
  }
  return std::nullopt;
}

}  // namespace roce::gen
