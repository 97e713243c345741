// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/fields.h"

#include "roce/wire/all_headers.h"

namespace roce {

namespace {

constexpr auto kHeaderCount = static_cast<std::size_t>(HeaderId::count);

/// Headers of variable length that are kept as opaque bytes, and places that an error can name.
constexpr std::array kOpaque{
    HeaderInfo{HeaderId::none, "none", "packet", 0, {}},
    HeaderInfo{HeaderId::ipv4_options, "ip_options", "IPv4 options", 0, {}},
    HeaderInfo{HeaderId::ipv6_extension, "ipv6_extension", "IPv6 extension header", 0, {}},
    HeaderInfo{HeaderId::geneve_options, "geneve_options", "GENEVE options", 0, {}},
    HeaderInfo{HeaderId::gre_options, "gre_options", "GRE optional fields", 0, {}},
    HeaderInfo{HeaderId::erspan3_subheader, "erspan3_subheader", "ERSPAN III subheader", 0, {}},
    HeaderInfo{HeaderId::pw_control_word, "pw_control_word", "pseudowire control word", 0, {}},
    HeaderInfo{HeaderId::payload, "payload", "payload", 0, {}},
    HeaderInfo{HeaderId::icrc, "icrc", "ICRC", 0, {}},
};

constexpr std::array<HeaderInfo, kHeaderCount> make_header_table() {
  std::array<HeaderInfo, kHeaderCount> table{};
  for (const HeaderInfo& row : kOpaque) table[static_cast<std::size_t>(row.id)] = row;
  AllHeaders::for_each([&]<typename H>() {
    constexpr HeaderName name = kHeader<H>;
    table[static_cast<std::size_t>(name.id)] = {name.id, name.name, name.title, name.size, kFieldInfos<H>};
  });
  return table;
}

constexpr std::array<HeaderInfo, kHeaderCount> kHeaderTable = make_header_table();

constexpr bool every_header_has_a_name() {
  for (const HeaderInfo& row : kHeaderTable) {
    if (row.name.empty()) return false;
  }
  return true;
}
static_assert(every_header_has_a_name(), "a HeaderId is missing from AllHeaders or kOpaque");

}  // namespace

std::span<const HeaderInfo> header_table() {
  return kHeaderTable;
}

const HeaderInfo& header_info(HeaderId id) {
  return kHeaderTable[static_cast<std::size_t>(id)];
}

const HeaderInfo* find_header(std::string_view name) {
  for (const HeaderInfo& row : kHeaderTable) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

const FieldInfo* find_field(const HeaderInfo& header, std::string_view name) {
  for (const FieldInfo& field : header.fields) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

std::uint64_t field_number(const FieldInfo& field, Bytes header) {
  std::uint64_t value = 0;
  const std::size_t end = std::size_t{field.bit_offset} + field.bit_width;
  for (std::size_t bit = field.bit_offset; bit < end;) {
    const std::size_t in_byte = bit % 8;
    const std::size_t take = std::min(8 - in_byte, end - bit);
    const unsigned byte = std::to_integer<unsigned>(header[bit / 8]);
    value = value << take | (byte >> (8 - in_byte - take) & ((1U << take) - 1));
    bit += take;
  }
  return value;
}

void set_field_number(const FieldInfo& field, std::span<std::byte> header, std::uint64_t value) {
  std::size_t end = std::size_t{field.bit_offset} + field.bit_width;
  while (end > field.bit_offset) {
    const std::size_t in_byte = (end - 1) % 8 + 1;  // bits of this byte up to the field's end
    const std::size_t take = std::min<std::size_t>(in_byte, end - field.bit_offset);
    const unsigned shift = static_cast<unsigned>(8 - in_byte);
    const unsigned mask = ((1U << take) - 1) << shift;
    std::byte& byte = header[(end - 1) / 8];
    byte = (byte & ~std::byte(mask)) | std::byte(static_cast<unsigned>(value) << shift & mask);
    value >>= take;
    end -= take;
  }
}

bool is_octets(const FieldInfo& field) {
  switch (field.format) {
    case FieldFormat::mac:
    case FieldFormat::ipv4:
    case FieldFormat::gid:
    case FieldFormat::bytes:
      return true;
    default:
      return field.bit_width > 64;
  }
}

Bytes field_octets(const FieldInfo& field, Bytes header) {
  return header.subspan(field.byte_offset(), field.bit_width / 8);
}

}  // namespace roce
