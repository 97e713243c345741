// SPDX-License-Identifier: BSD-2-Clause
#include "wire/text.h"

#include <array>
#include <string>
#include <utility>

#include "roce/wire/aeth.h"
#include "roce/wire/error.h"
#include "roce/wire/fields.h"
#include "roce/wire/opcode.h"
#include "roce/wire/types.h"

namespace roce {

namespace text {

namespace {
constexpr std::string_view kDigits = "0123456789abcdef";
}

std::string hex(Bytes bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const std::byte byte : bytes) {
    out += kDigits[std::to_integer<unsigned>(byte) >> 4];
    out += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return out;
}

std::string hex(std::uint64_t value, std::size_t digits) {
  std::string out = "0x";
  for (std::size_t i = digits; i-- > 0;) out += kDigits[value >> (4 * i) & 15];
  return out;
}

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

std::optional<std::uint64_t> number(std::string_view text) {
  const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
  const std::uint64_t base = is_hex ? 16 : 10;
  if (is_hex) text.remove_prefix(2);
  if (text.empty()) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    const std::optional<unsigned> digit = hex_digit(c);
    if (!digit || *digit >= base || value > (~std::uint64_t{0} - *digit) / base) return std::nullopt;
    value = value * base + *digit;
  }
  return value;
}

std::optional<Duration> duration(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::int64_t>, 4> kUnits{
      {{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}}};
  for (const auto& [unit, ns] : kUnits) {
    if (!text.ends_with(unit)) continue;
    const auto count = number(text.substr(0, text.size() - unit.size()));
    if (!count) continue;
    if (*count > static_cast<std::uint64_t>(Duration::max().count() / ns)) return std::nullopt;
    return Duration{static_cast<std::int64_t>(*count) * ns};
  }
  return std::nullopt;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

}  // namespace text

std::string to_string(const MacAddress& address) {
  std::string out;
  for (const std::uint8_t octet : address.octets) {
    if (!out.empty()) out += ':';
    out += text::hex(octet, 2).substr(2);
  }
  return out;
}

std::string to_string(const Ipv4Address& address) {
  std::string out;
  for (const std::uint8_t octet : address.octets) {
    if (!out.empty()) out += '.';
    out += std::to_string(octet);
  }
  return out;
}

// W-TEXT-1 (IPv6 text form of RFC 5952)
std::string to_string(const Gid& gid) {
  if (gid.is_ipv4_mapped()) return to_string(gid.ipv4());
  const auto group = [&](std::size_t i) -> unsigned {
    return static_cast<unsigned>(gid.octets[2 * i]) << 8 | gid.octets[2 * i + 1];
  };
  // RFC 5952, 4.2: the longest run of at least two zero groups becomes "::"; if there are equal ones, the first.
  std::size_t run_start = 8;
  std::size_t run_length = 1;
  for (std::size_t i = 0; i < 8; ++i) {
    std::size_t length = 0;
    while (i + length < 8 && group(i + length) == 0) ++length;
    if (length > run_length) {
      run_start = i;
      run_length = length;
    }
  }
  std::string out;
  for (std::size_t i = 0; i < 8; ++i) {
    if (i == run_start) {
      out += "::";
      i += run_length - 1;
      continue;
    }
    if (!out.empty() && out.back() != ':') out += ':';
    std::string digits = text::hex(group(i), 4).substr(2);
    digits.erase(0, std::min(digits.find_first_not_of('0'), std::size_t{3}));
    out += digits;
  }
  return out;
}

std::string_view to_string(ParseReason reason) {
  switch (reason) {
    case ParseReason::none:
      return "ok";
    case ParseReason::cut_short:
      return "cut short by the capture";
    case ParseReason::truncated:
      return "truncated";
    case ParseReason::bad_version:
      return "bad version of";
    case ParseReason::bad_length:
      return "bad length of";
    case ParseReason::fragment:
      return "IP fragment";
    case ParseReason::not_roce:
      return "not RoCE";
    case ParseReason::too_many_headers:
      return "too many headers at";
  }
  return {};
}

std::string to_string(const ParseError& error) {
  std::string out{to_string(error.reason)};
  const auto at = [&] {
    return ' ' + std::string{header_info(error.layer).title} + " at byte " + std::to_string(error.offset);
  };
  switch (error.reason) {
    case ParseReason::none:
      return out;
    case ParseReason::not_roce:
      return error.layer == HeaderId::none ? out + " from byte " + std::to_string(error.offset) : out + ':' + at();
    case ParseReason::fragment:
      return out + ':' + at() + ", data offset " + std::to_string(error.available) + ": defragment the capture first";
    case ParseReason::bad_version:
      return out + at() + ": expected " + std::to_string(error.needed) + ", found " + std::to_string(error.available);
    case ParseReason::bad_length:
      return out + at() + ": says " + std::to_string(error.needed) + ", there are " + std::to_string(error.available);
    case ParseReason::cut_short:
    case ParseReason::truncated:
      return out + at() + ": need " + std::to_string(error.needed) + ", have " + std::to_string(error.available);
    case ParseReason::too_many_headers:
      return out + at() + ": at most " + std::to_string(error.available) + " are followed";
  }
  return out;
}

std::string to_string(AethSyndrome syndrome) {
  const std::string reserved_bit = (syndrome.value() & 0x80) != 0 ? " (reserved bit 7 set)" : "";
  switch (syndrome.kind()) {
    case AethKind::ack:
      if (const auto credits = syndrome.credits()) return "ACK credits=" + std::to_string(*credits) + reserved_bit;
      return "ACK" + reserved_bit;
    case AethKind::rnr_nak: {
      const auto units = static_cast<unsigned>(syndrome.rnr_timer()->count()) / 10;
      std::string hundredths = std::to_string(units % 100);
      if (hundredths.size() < 2) hundredths.insert(0, 1, '0');
      return "RNR NAK " + std::to_string(units / 100) + '.' + hundredths + " ms" + reserved_bit;
    }
    case AethKind::nak:
      for (const ValueName& row : kSyndromeNames) {
        if (row.value == (syndrome.value() & 0x7F)) return std::string{row.name} + reserved_bit;
      }
      return "NAK code " + std::to_string(syndrome.code()) + reserved_bit;
    case AethKind::reserved:
      break;
  }
  return "reserved syndrome " + text::hex(syndrome.value(), 2);
}

std::optional<Opcode> opcode_from_name(std::string_view name) {
  for (const ValueName& row : kOpcodeNames) {
    if (text::equal_ignoring_case(row.name, name)) return static_cast<Opcode>(row.value);
  }
  const std::optional<std::uint64_t> value = text::number(name);
  if (!value || *value > 0xFF) return std::nullopt;
  return static_cast<Opcode>(*value);
}

}  // namespace roce
