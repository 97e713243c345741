// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <vector>

#include "roce/wire/fields.h"
#include "wire/text.h"

namespace roce {

namespace {

using Octets = std::vector<std::byte>;

std::optional<Octets> parse_hex(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  if (text.size() % 2 != 0) return std::nullopt;
  Octets octets;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const auto high = text::hex_digit(text[i]);
    const auto low = text::hex_digit(text[i + 1]);
    if (!high || !low) return std::nullopt;
    octets.push_back(static_cast<std::byte>(*high << 4 | *low));
  }
  return octets;
}

/// Reads numbers in `base`, each at most `max`, separated by `separator`. A decimal number must not have leading zeros,
/// which some programs read as octal, and no number may have more digits than `max`.
std::optional<std::vector<unsigned>> parse_groups(std::string_view text, char separator, unsigned base, unsigned max) {
  std::size_t most_digits = 1;
  for (unsigned left = max / base; left != 0; left /= base) ++most_digits;
  std::vector<unsigned> groups;
  while (true) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end == 0 || end > most_digits || (base == 10 && end > 1 && text[0] == '0')) return std::nullopt;
    unsigned value = 0;
    for (const char c : text.substr(0, end)) {
      const auto digit = text::hex_digit(c);
      if (!digit || *digit >= base) return std::nullopt;
      value = value * base + *digit;
      if (value > max) return std::nullopt;
    }
    groups.push_back(value);
    if (end == text.size()) return groups;
    text.remove_prefix(end + 1);
  }
}

std::optional<Octets> parse_octet_groups(std::string_view text, char separator, unsigned base, std::size_t count) {
  const auto groups = parse_groups(text, separator, base, 255);
  if (!groups || groups->size() != count) return std::nullopt;
  Octets octets;
  for (const unsigned group : *groups) octets.push_back(static_cast<std::byte>(group));
  return octets;
}

std::optional<Octets> parse_ipv4(std::string_view text) {
  return parse_octet_groups(text, '.', 10, 4);
}

/// Reads the groups on one side of "::", the last of which may be an IPv4 address.
std::optional<Octets> parse_ipv6_part(std::string_view text) {
  Octets octets;
  if (text.empty()) return octets;
  if (const std::size_t dot = text.find('.'); dot != std::string_view::npos) {
    const std::size_t colon = text.rfind(':');
    const std::size_t start = colon == std::string_view::npos ? 0 : colon + 1;
    const auto tail = parse_ipv4(text.substr(start));
    if (!tail) return std::nullopt;
    if (start > 0) {
      const auto head = parse_ipv6_part(text.substr(0, start - 1));
      if (!head) return std::nullopt;
      octets = *head;
    }
    octets.insert(octets.end(), tail->begin(), tail->end());
    return octets;
  }
  const auto groups = parse_groups(text, ':', 16, 0xFFFF);
  if (!groups) return std::nullopt;
  for (const unsigned group : *groups) {
    octets.push_back(static_cast<std::byte>(group >> 8));
    octets.push_back(static_cast<std::byte>(group & 0xFF));
  }
  return octets;
}

std::optional<Octets> parse_gid(std::string_view text) {
  if (text.find(':') == std::string_view::npos) {
    const auto ipv4 = parse_ipv4(text);
    if (!ipv4) return std::nullopt;
    Octets mapped(16);
    mapped[10] = mapped[11] = std::byte{0xFF};
    std::copy(ipv4->begin(), ipv4->end(), mapped.begin() + 12);
    return mapped;
  }
  const std::size_t gap = text.find("::");
  if (gap == std::string_view::npos) {
    auto octets = parse_ipv6_part(text);
    return octets && octets->size() == 16 ? octets : std::nullopt;
  }
  const auto head = parse_ipv6_part(text.substr(0, gap));
  const auto tail = parse_ipv6_part(text.substr(gap + 2));
  if (!head || !tail || head->size() + tail->size() > 14) return std::nullopt;
  Octets octets = *head;
  octets.resize(16 - tail->size());
  octets.insert(octets.end(), tail->begin(), tail->end());
  return octets;
}

tl::expected<void, std::string> set_octets(const FieldInfo& field, std::span<std::byte> header, std::string_view text) {
  std::optional<Octets> octets;
  std::string expected;
  const std::size_t size = field.bit_width / 8;
  switch (field.format) {
    case FieldFormat::mac:
      octets = parse_octet_groups(text, ':', 16, 6);
      expected = "a MAC address such as 02:00:00:00:00:01";
      break;
    case FieldFormat::ipv4:
      octets = parse_ipv4(text);
      expected = "an IPv4 address such as 192.0.2.1";
      break;
    case FieldFormat::gid:
      octets = parse_gid(text);
      expected = "an IPv6 or IPv4 address";
      break;
    default:
      octets = parse_hex(text);
      expected = "at most " + std::to_string(size) + " bytes as hex digits";
      break;
  }
  if (!octets || octets->size() > size)
    return tl::unexpected("expected " + expected + ", found '" + std::string{text} + "'");
  octets->resize(size);
  std::copy(octets->begin(), octets->end(), header.begin() + static_cast<std::ptrdiff_t>(field.byte_offset()));
  return {};
}

/// Returns the largest number that fits a field.
std::uint64_t max_value(const FieldInfo& field) {
  return field.bit_width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << field.bit_width) - 1;
}

std::optional<std::uint64_t> parse_number(const FieldInfo& field, std::string_view text) {
  if (field.format == FieldFormat::boolean && text == "true") return 1;
  if (field.format == FieldFormat::boolean && text == "false") return 0;
  for (const ValueName& row : field.value_names) {
    if (text::equal_ignoring_case(row.name, text)) return row.value;
  }
  if (field.format == FieldFormat::signed_decimal && text.starts_with('-')) {
    const auto magnitude = text::number(text.substr(1));
    const std::uint64_t most = std::uint64_t{1} << (field.bit_width - 1);
    if (!magnitude || *magnitude > most) return std::nullopt;
    return (~*magnitude + 1) & max_value(field);
  }
  const auto value = text::number(text);
  if (!value || *value > max_value(field)) return std::nullopt;
  return value;
}

}  // namespace

std::string field_text(const FieldInfo& field, Bytes header) {
  if (is_octets(field)) {
    const Bytes octets = field_octets(field, header);
    const auto copy = [&]<typename T>(T address) {
      for (std::size_t i = 0; i < address.octets.size(); ++i) {
        address.octets[i] = std::to_integer<std::uint8_t>(octets[i]);
      }
      return to_string(address);
    };
    switch (field.format) {
      case FieldFormat::mac:
        return copy(MacAddress{});
      case FieldFormat::ipv4:
        return copy(Ipv4Address{});
      case FieldFormat::gid:
        return copy(Gid{});
      default:
        return text::hex(octets);
    }
  }
  const std::uint64_t value = field_number(field, header);
  switch (field.format) {
    case FieldFormat::boolean:
      return value != 0 ? "true" : "false";
    case FieldFormat::hex:
    case FieldFormat::reserved:
      return text::hex(value, (field.bit_width + 3U) / 4U);
    case FieldFormat::signed_decimal: {
      const bool negative = (value >> (field.bit_width - 1) & 1) != 0;
      return negative ? "-" + std::to_string((~value + 1) & max_value(field)) : std::to_string(value);
    }
    default:
      return std::to_string(value);
  }
}

tl::expected<void, std::string> set_field_text(const FieldInfo& field, std::span<std::byte> header,
                                               std::string_view text) {
  if (is_octets(field)) return set_octets(field, header, text);
  const auto value = parse_number(field, text);
  if (!value) {
    std::string expected =
        field.format == FieldFormat::boolean ? std::string{"true or false"} : "0 … " + std::to_string(max_value(field));
    if (!field.value_names.empty()) expected += " or a name such as '" + std::string{field.value_names[0].name} + "'";
    return tl::unexpected("expected " + expected + ", found '" + std::string{text} + "'");
  }
  set_field_number(field, header, *value);
  return {};
}

}  // namespace roce
