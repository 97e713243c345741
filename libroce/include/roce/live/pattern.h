// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace roce::live {

/// Fills memory with bytes that follow from `seed` and the position alone: 64-bit words,
/// least significant byte first, word i being (seed + i + 1) * 0x9E3779B97F4A7C15 modulo
/// 2^64 (docs/control.md). Two seeds never have the same word at the same position.
void fill_pattern(std::span<std::byte> memory, std::uint64_t seed);
/// Returns the first offset at which memory differs from what `fill_pattern` would write; nullopt if it does not.
[[nodiscard]] std::optional<std::size_t> find_wrong_byte(std::span<const std::byte> memory, std::uint64_t seed);

/// Bytes of a pattern that are written or compared before other work has its turn: a fraction of a millisecond.
inline constexpr std::size_t kPatternSlice = 256 << 10;
/// Returns the seed of the rest of a pattern from `offset` on, which is in bytes and a whole number of words.
[[nodiscard]] constexpr std::uint64_t seed_at(std::uint64_t seed, std::uint64_t offset) {
  return seed + offset / sizeof(std::uint64_t);
}
/// Rounds a number of bytes down to whole words: a pattern can be cut there.
[[nodiscard]] constexpr std::size_t whole_words(std::size_t bytes) {
  return bytes / sizeof(std::uint64_t) * sizeof(std::uint64_t);
}
static_assert(whole_words(kPatternSlice) == kPatternSlice);

/// Returns the digest of bytes, continued: `digest` is 0 or the result for the bytes before, which are a whole number
/// of words. For each 64-bit word, least significant byte first, the last one with zeros behind it: digest = (digest
/// xor word) * 0x9E3779B97F4A7C15 modulo 2^64, then digest = digest xor digest >> 29 (docs/control.md).
[[nodiscard]] std::uint64_t digest_of(std::span<const std::byte> bytes, std::uint64_t digest = 0);

/// Returns the seed of message `number` on queue pair `index` of an exchange with the seed `base`.
[[nodiscard]] constexpr std::uint64_t message_seed(std::uint64_t base, std::uint32_t index, std::uint64_t number) {
  return base + (std::uint64_t{index} << 48) + (number << 20);
}

}  // namespace roce::live
