// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "roce/wire/error.h"
#include "roce/wire/field.h"
#include "roce/wire/header_id.h"

namespace roce {

/// The text form of a field.
enum class FieldFormat : std::uint8_t {
  decimal,
  signed_decimal,  ///< two's complement of the field's width
  hex,             ///< 0x and as many digits as the field has nibbles
  boolean,         ///< one bit: true or false
  mac,
  ipv4,
  gid,       ///< IPv6 text form, IPv4-mapped as IPv4
  bytes,     ///< hex digits
  reserved,  ///< a number that is sent as 0 and ignored; kept so that it survives parse and emit
};

/// The name of one value of a field.
struct ValueName {
  std::uint64_t value;
  std::string_view name;
};

/// One row of the field table.
struct FieldInfo {
  std::string_view name;  ///< name inside its header, e.g. `psn` of `bth.psn`
  FieldFormat format = FieldFormat::decimal;
  std::string_view title;                  ///< the specification's term, e.g. "Packet Sequence Number"
  std::span<const ValueName> value_names;  ///< names of values, may be empty
  std::uint16_t bit_offset = 0;            ///< from the header's first bit, most significant first
  std::uint16_t bit_width = 0;

  [[nodiscard]] constexpr std::size_t byte_offset() const { return bit_offset / 8; }
  /// Returns the value's name, or an empty view.
  [[nodiscard]] constexpr std::string_view value_name(std::uint64_t value) const {
    for (const ValueName& row : value_names) {
      if (row.value == value) return row.name;
    }
    return {};
  }
};

/// A row of the field table bound to the member that holds the value.
template <auto Member, std::size_t Offset, std::size_t Width>
struct MemberField;

template <typename H, typename T, T H::*Member, std::size_t Offset, std::size_t Width>
struct MemberField<Member, Offset, Width> {
  using header_type = H;
  using value_type = T;
  using field = Field<T, Offset, Width>;
  static constexpr auto kMember = Member;
  static constexpr std::size_t kOffset = Offset;
  static constexpr std::size_t kWidth = Width;
  FieldInfo info;
};

/// Makes a row of a header's table: the member, its bits, its name, its text form, its title and its value names.
template <auto Member, std::size_t Offset, std::size_t Width>
[[nodiscard]] consteval auto field(std::string_view name, FieldFormat format, std::string_view title,
                                   std::span<const ValueName> value_names = {}) {
  return MemberField<Member, Offset, Width>{
      {name, format, title, value_names, static_cast<std::uint16_t>(Offset), static_cast<std::uint16_t>(Width)}};
}

/// The rows of one header, in wire order. Flat, because a header of sixty fields makes std::tuple slow to compile.
template <typename... Rows>
struct FieldList : Rows... {
  static constexpr std::size_t kCount = sizeof...(Rows);

  /// Calls `use` once, with all rows as arguments, and returns the result of the call.
  template <typename Use>
  constexpr decltype(auto) apply(Use use) const {
    return use(static_cast<const Rows&>(*this)...);
  }
};
template <typename... Rows>
FieldList(Rows...) -> FieldList<Rows...>;

/// The names and the size of a header. Specialised beside each header struct.
struct HeaderName {
  HeaderId id = HeaderId::none;
  std::string_view name;   ///< in field names: `bth` of `bth.psn`
  std::string_view title;  ///< in messages: `BTH`
  std::size_t size = 0;    ///< bytes
};

/// The name row of header `H`; specialised beside each header struct.
template <typename H>
inline constexpr HeaderName kHeader{};

/// The field rows of header `H`; specialised beside each header struct.
template <typename H>
inline constexpr auto kFields = FieldList<>{};

namespace detail {

/// True if the rows cover each bit of the header exactly once, in order: no bit is lost between parse and emit.
template <typename H>
[[nodiscard]] consteval bool covers_every_bit() {
  std::size_t next = 0;
  bool exact = true;
  kFields<H>.apply(
      [&](const auto&... row) { ((exact = exact && row.info.bit_offset == next, next += row.info.bit_width), ...); });
  return exact && next == kHeader<H>.size * 8;
}

}  // namespace detail

/// A header struct with its rows in the field table.
template <typename H>
concept HeaderType = kHeader<H>.id != HeaderId::none && detail::covers_every_bit<H>();

/// The size of header `H` on the wire, in bytes.
template <HeaderType H>
inline constexpr std::size_t kSize = kHeader<H>.size;

/// Reads a header from its first byte; `kSize<H>` bytes must be there.
template <HeaderType H>
[[nodiscard]] constexpr H read(const std::byte* bytes) {
  H header;
  kFields<H>.apply([&](const auto&... row) {
    ((header.*row.kMember = std::remove_cvref_t<decltype(row)>::field::get(bytes)), ...);
  });
  return header;
}

/// Reads a header from the start of `bytes`. Error: `truncated` if there are fewer than `kSize<H>` bytes.
template <HeaderType H>
[[nodiscard]] constexpr Result<H> parse(Bytes bytes) {
  if (bytes.size() < kSize<H>) {
    return tl::unexpected(ParseError{ParseReason::truncated, kHeader<H>.id, 0, static_cast<std::uint32_t>(kSize<H>),
                                     static_cast<std::uint32_t>(bytes.size())});
  }
  return read<H>(bytes.data());
}

namespace detail {

/// Puts a number's bits into their places in the header's 64-bit words, whose first bit is the most significant.
template <typename Row, typename H>
constexpr void put_number(const H& header, std::uint64_t* words) {
  if constexpr (!OctetField<typename Row::value_type>) {
    constexpr std::size_t first = Row::kOffset / 64;
    constexpr std::size_t last = (Row::kOffset + Row::kWidth - 1) / 64;
    constexpr std::size_t end_in_last = (Row::kOffset + Row::kWidth - 1) % 64 + 1;
    const std::uint64_t value = to_raw(header.*Row::kMember) & Row::field::kMask;
    words[last] |= value << (64 - end_in_last);
    if constexpr (first != last) words[first] |= value >> end_in_last;
  }
}

template <typename Row, typename H>
constexpr void put_octets(const H& header, std::byte* out) {
  if constexpr (OctetField<typename Row::value_type>) Row::field::set(out, header.*Row::kMember);
}

}  // namespace detail

/// Writes a header; there must be room for `kSize<H>` bytes.
/// Numbers are assembled in registers and stored word by word.
template <HeaderType H>
constexpr void write(const H& header, std::byte* out) {
  constexpr std::size_t size = kHeader<H>.size;
  constexpr std::size_t whole = size / 8;
  constexpr std::size_t rest = size % 8;
  std::uint64_t words[whole + 1]{};
  kFields<H>.apply([&]<typename... Rows>(const Rows&...) {
    (detail::put_number<Rows>(header, words), ...);
    // Not `<`: for a header shorter than a word, GCC 14 warns about that comparison.
    for (std::size_t i = 0; i != whole; ++i) store_big_endian<8>(out + i * 8, words[i]);
    if constexpr ((rest & 4) != 0) store_big_endian<4>(out + whole * 8, words[whole] >> 32);
    if constexpr ((rest & 2) != 0)
      store_big_endian<2>(out + whole * 8 + (rest & 4), words[whole] >> ((rest & 4) != 0 ? 16 : 48));
    if constexpr ((rest & 1) != 0) out[size - 1] = static_cast<std::byte>(words[whole] >> (64 - rest * 8) & 0xFF);
    (detail::put_octets<Rows>(header, out), ...);
  });
}

/// Writes a header to the start of `out`. Error: `truncated` if there is less room than `kSize<H>`.
template <HeaderType H>
constexpr Result<void> emit(const H& header, std::span<std::byte> out) {
  if (out.size() < kSize<H>) {
    return tl::unexpected(ParseError{ParseReason::truncated, kHeader<H>.id, 0, static_cast<std::uint32_t>(kSize<H>),
                                     static_cast<std::uint32_t>(out.size())});
  }
  write(header, out.data());
  return {};
}

namespace detail {

template <auto A, auto B>
struct SameMember : std::false_type {};
template <auto A>
struct SameMember<A, A> : std::true_type {};

template <typename T>
struct MemberClass;
template <typename H, typename T>
struct MemberClass<T H::*> {
  using type = H;
};

template <auto Member, typename Rows>
struct FindRow;
template <auto Member, typename First, typename... Rest>
struct FindRow<Member, FieldList<First, Rest...>> {
  using type = typename std::conditional_t<SameMember<Member, First::kMember>::value, std::type_identity<First>,
                                           FindRow<Member, FieldList<Rest...>>>::type;
};

}  // namespace detail

/// The definition of one field, to read or edit it in place: `FieldOf<&Bth::psn>::get(bytes)`.
template <auto Member>
using FieldOf = typename detail::FindRow<
    Member, std::remove_cvref_t<decltype(kFields<typename detail::MemberClass<decltype(Member)>::type>)>>::type::field;

/// One header of the field table, as data.
struct HeaderInfo {
  HeaderId id = HeaderId::none;
  std::string_view name;
  std::string_view title;
  std::size_t size = 0;  ///< bytes; 0 for a header of variable length that is kept as opaque bytes
  std::span<const FieldInfo> fields;
};

/// The field rows of `H` as data.
template <HeaderType H>
inline constexpr auto kFieldInfos =
    kFields<H>.apply([](const auto&... row) { return std::array<FieldInfo, sizeof...(row)>{row.info...}; });

}  // namespace roce
