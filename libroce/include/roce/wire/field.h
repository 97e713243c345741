// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "roce/wire/types.h"

namespace roce {

/// Loads `N` (1, 2, 4 or 8) bytes in network order.
template <std::size_t N>
[[nodiscard]] constexpr std::uint64_t load_big_endian(const std::byte* bytes) {
  if (!std::is_constant_evaluated() && std::endian::native == std::endian::little) {
    if constexpr (N == 8) {
      std::uint64_t value;
      std::memcpy(&value, bytes, 8);
      return __builtin_bswap64(value);
    } else if constexpr (N == 4) {
      std::uint32_t value;
      std::memcpy(&value, bytes, 4);
      return __builtin_bswap32(value);
    } else if constexpr (N == 2) {
      std::uint16_t value;
      std::memcpy(&value, bytes, 2);
      return __builtin_bswap16(value);
    }
  }
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < N; ++i) value = value << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  return value;
}

/// Stores the low `N` (1, 2, 4 or 8) bytes of `value` in network order.
template <std::size_t N>
constexpr void store_big_endian(std::byte* bytes, std::uint64_t value) {
  if (!std::is_constant_evaluated() && std::endian::native == std::endian::little) {
    if constexpr (N == 8) {
      value = __builtin_bswap64(value);
      std::memcpy(bytes, &value, 8);
      return;
    } else if constexpr (N == 4) {
      const std::uint32_t swapped = __builtin_bswap32(static_cast<std::uint32_t>(value));
      std::memcpy(bytes, &swapped, 4);
      return;
    } else if constexpr (N == 2) {
      const std::uint16_t swapped = __builtin_bswap16(static_cast<std::uint16_t>(value));
      std::memcpy(bytes, &swapped, 2);
      return;
    }
  }
  for (std::size_t i = N; i-- > 0; value >>= 8) bytes[i] = static_cast<std::byte>(value & 0xFF);
}

namespace detail {

template <typename T>
concept HasRep = requires(T t) {
  typename T::rep;
  { t.value() } -> std::convertible_to<std::uint64_t>;
};

template <typename T>
concept HasOctets = requires(T t) { t.octets.size(); };

template <typename T>
struct IsByteArray : std::false_type {};
template <std::size_t N>
struct IsByteArray<std::array<std::byte, N>> : std::true_type {};

}  // namespace detail

/// A field value that is a run of whole bytes: an address, a GID, private data.
template <typename T>
concept OctetField = detail::HasOctets<T> || detail::IsByteArray<T>::value;

/// A field value that is a number of at most 64 bits: integer, bool, enum or strong type.
template <typename T>
concept NumberField = std::integral<T> || std::is_enum_v<T> || detail::HasRep<T>;

/// Returns the number in a field value.
template <NumberField T>
[[nodiscard]] constexpr std::uint64_t to_raw(T value) {
  if constexpr (detail::HasRep<T>) {
    return value.value();
  } else {
    return static_cast<std::uint64_t>(value);
  }
}

/// Returns the field value of a number.
template <NumberField T>
[[nodiscard]] constexpr T from_raw(std::uint64_t raw) {
  if constexpr (detail::HasRep<T>) {
    return T{static_cast<typename T::rep>(raw)};
  } else {
    return static_cast<T>(raw);
  }
}

/// One field of a header: `Width` bits starting at bit `Offset` of the header, bit 0 being the most significant bit
/// of byte 0. This one definition serves reading, editing in place, and (through the field table) parse and emit.
/// The header must be present as a whole: a field reads power-of-two words around its bits, inside the header.
template <typename T, std::size_t Offset, std::size_t Width>
struct Field {
  static constexpr std::size_t kFirstByte = Offset / 8;
  static constexpr std::size_t kEndByte = (Offset + Width + 7) / 8;

  [[nodiscard]] static constexpr T get(const std::byte* header) {
    if constexpr (OctetField<T>) {
      static_assert(Offset % 8 == 0 && Width == sizeof(T) * 8, "octet fields are whole bytes");
      T value;
      if constexpr (detail::HasOctets<T>) {
        for (std::size_t i = 0; i < Width / 8; ++i) {
          value.octets[i] = std::to_integer<std::uint8_t>(header[kFirstByte + i]);
        }
      } else {
        for (std::size_t i = 0; i < Width / 8; ++i) value[i] = header[kFirstByte + i];
      }
      return value;
    } else {
      return from_raw<T>(load_big_endian<kWord>(header + kWordStart) >> kShift & kMask);
    }
  }

  /// Writes the field and leaves all other bits of the header as they are.
  static constexpr void set(std::byte* header, const T& value) {
    if constexpr (OctetField<T>) {
      if constexpr (detail::HasOctets<T>) {
        for (std::size_t i = 0; i < Width / 8; ++i) header[kFirstByte + i] = std::byte{value.octets[i]};
      } else {
        for (std::size_t i = 0; i < Width / 8; ++i) header[kFirstByte + i] = value[i];
      }
    } else {
      const std::uint64_t word = load_big_endian<kWord>(header + kWordStart);
      store_big_endian<kWord>(header + kWordStart, (word & ~(kMask << kShift)) | (to_raw(value) & kMask) << kShift);
    }
  }

  // The word around the bits ends where they end, if possible, so that it never reaches past the header's end.
  static constexpr std::size_t kWord = OctetField<T> ? 1 : std::bit_ceil(kEndByte - kFirstByte);
  static constexpr std::size_t kWordStart = kEndByte >= kWord ? kEndByte - kWord : 0;
  static constexpr std::size_t kShift = OctetField<T> ? 0 : (kWordStart + kWord) * 8 - Offset - Width;
  static constexpr std::uint64_t kMask = Width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << Width % 64) - 1;
};

}  // namespace roce
