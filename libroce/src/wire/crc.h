// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace roce::crc {

// The CRC's register as a polynomial over GF(2), reflected: bit 31 is the coefficient of x^0. All of this rests on the
// CRC being linear: the registers of two inputs differ by what their difference alone would leave in an empty register.

/// The polynomial of CRC-32 (IEEE 802.3) without x^32.
inline constexpr std::uint32_t kPolynomial = 0xEDB88320;

/// The CRC of the eight bytes of ones that stand for the LRH, with which an ICRC starts.
inline constexpr std::uint32_t kLrhSeed = 0x2144DF1C;

/// Returns the register from which `count` zero bytes lead to `difference`.
[[nodiscard]] constexpr std::uint32_t rewind(std::uint32_t difference, std::size_t count) {
  for (std::size_t bit = 0; bit < count * 8; ++bit) {
    const bool carried = (difference & 0x8000'0000) != 0;
    difference = carried ? (difference ^ kPolynomial) << 1 | 1 : difference << 1;
  }
  return difference;
}

/// Returns the register after `count` zero bytes: the inverse of `rewind`.
[[nodiscard]] constexpr std::uint32_t advance(std::uint32_t difference, std::size_t count) {
  for (std::size_t bit = 0; bit < count * 8; ++bit) {
    difference = (difference & 1) != 0 ? difference >> 1 ^ kPolynomial : difference >> 1;
  }
  return difference;
}

/// Returns the product of two registers modulo the polynomial.
[[nodiscard]] constexpr std::uint32_t multiply(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (std::uint32_t bit = 0x8000'0000; bit != 0; bit >>= 1) {
    if ((a & bit) != 0) product ^= b;
    b = (b & 1) != 0 ? b >> 1 ^ kPolynomial : b >> 1;
  }
  return product;
}

/// A number for each value of a byte.
using ByteTable = std::array<std::uint32_t, 256>;

/// Returns the powers of `base`, from x^0 on.
[[nodiscard]] constexpr ByteTable make_powers(std::uint32_t base) {
  ByteTable powers{0x8000'0000};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = multiply(powers[i - 1], base);
  return powers;
}

/// The factors that rewind as many bytes as their index, and 256 times as many.
inline constexpr ByteTable kBack = make_powers(rewind(0x8000'0000, 1));
inline constexpr ByteTable kFarBack = make_powers(rewind(0x8000'0000, kBack.size()));

/// Does the same as `rewind`, in constant time up to 65535 bytes: each packet of a UDP socket needs it once.
[[nodiscard]] constexpr std::uint32_t rewind_far(std::uint32_t difference, std::size_t count) {
  constexpr std::size_t most = 0xFFFF;
  for (; count > most; count -= most) difference = multiply(multiply(difference, kBack[0xFF]), kFarBack[0xFF]);
  return multiply(multiply(difference, kBack[count & 0xFF]), kFarBack[count >> 8U]);
}

/// Returns the table of a byte in which each bit that is set in `changed(value)` contributes its entry of `of_bit`.
template <typename Changed>
[[nodiscard]] constexpr ByteTable make_linear_table(const std::array<std::uint32_t, 8>& of_bit, Changed changed) {
  ByteTable table{};
  for (unsigned value = 0; value < 256; ++value) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      if ((changed(value) >> bit & 1) != 0) table[value] ^= of_bit[bit];
    }
  }
  return table;
}

/// Returns what to XOR into the seed for one byte that the ICRC reads as ones, for each value that it really has.
/// `position` counts from where the CRC starts after the seed; `mask` has the bits that are read as ones.
[[nodiscard]] constexpr ByteTable make_mask_table(std::size_t position, std::uint8_t mask = 0xFF) {
  std::array<std::uint32_t, 8> of_bit{};
  for (unsigned bit = 0; bit < 8; ++bit) of_bit[bit] = rewind(std::uint32_t{1} << bit, position);
  return make_linear_table(of_bit, [mask](unsigned value) { return ~value & mask; });
}

/// Returns what to XOR into a register for one byte that was 0 when the register was computed, for each value that the
/// byte may have. The register is that `bytes_behind` bytes behind the byte.
[[nodiscard]] constexpr ByteTable make_byte_table(std::size_t bytes_behind) {
  std::array<std::uint32_t, 8> of_bit{};
  for (unsigned bit = 0; bit < 8; ++bit) of_bit[bit] = advance(std::uint32_t{1} << bit, bytes_behind + 1);
  return make_linear_table(of_bit, [](unsigned value) { return value; });
}

}  // namespace roce::crc
