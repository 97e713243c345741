// SPDX-License-Identifier: BSD-2-Clause
#include "perftest/qp_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

namespace roce {

namespace {

/// Reads numbers of fixed width, each followed by a colon.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  /// Returns the next number, of `digits` hexadecimal digits and at most `most`; always 0 after an error.
  [[nodiscard]] std::uint64_t number(std::string_view name, std::size_t digits, std::uint64_t most) {
    if (!error_.empty()) return 0;
    const std::string_view word = text_.substr(at_, digits);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, 16);
    if (error != std::errc{} || end != word.data() + digits || text_[at_ + digits] != ':') {
      error_ = fmt::format("has no {} of {} hexadecimal digits and a colon at byte {}", name, digits, at_);
      return 0;
    }
    if (value > most) {
      error_ = fmt::format("has {} 0x{:x}, which is above 0x{:x}", name, value, most);
      return 0;
    }
    at_ += digits + 1;
    return value;
  }
  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::string error_;
};

constexpr std::uint64_t kAny = ~std::uint64_t{0};

/// Reads big-endian numbers, one after the other.
class BinaryReader {
 public:
  explicit BinaryReader(std::string_view bytes) : bytes_(bytes) {}

  /// Returns the next number, of `size` bytes and at most `most`; always 0 after an error.
  [[nodiscard]] std::uint64_t number(std::string_view name, std::size_t size, std::uint64_t most) {
    if (!error_.empty()) return 0;
    std::uint64_t value = 0;
    for (const char byte : bytes_.substr(0, size)) value = value << 8 | static_cast<unsigned char>(byte);
    bytes_.remove_prefix(size);
    if (value <= most) return value;
    error_ = fmt::format("has {} 0x{:x}, which is above 0x{:x}", name, value, most);
    return 0;
  }
  void skip(std::size_t size) { bytes_.remove_prefix(std::min(size, bytes_.size())); }
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  std::string_view bytes_;
  std::string error_;
};

void put(std::string& to, std::uint64_t value, std::size_t size) {
  for (std::size_t i = size; i-- > 0;) to.push_back(static_cast<char>(value >> (8 * i)));
}

constexpr std::uint64_t kMax16 = 0xFFFF;

}  // namespace

std::string to_text(const PerftestKeys& keys) {
  std::string text = fmt::format("{:04x}:{:04x}:{:06x}:{:06x}:{:08x}:{:016x}:", keys.lid, keys.out_reads,
                                 keys.qpn.value(), keys.psn.value(), keys.r_key.value(), keys.address);
  for (const std::uint8_t octet : keys.gid.octets) fmt::format_to(std::back_inserter(text), "{:02x}:", octet);
  fmt::format_to(std::back_inserter(text), "{:08x}:", keys.srqn);
  text.push_back('\0');
  return text;
}

tl::expected<PerftestKeys, std::string> parse_perftest_keys(std::string_view text) {
  if (text.size() != PerftestKeys::kSize) {
    return tl::unexpected(fmt::format("has {} bytes, not {}", text.size(), PerftestKeys::kSize));
  }
  Reader reader{text};
  PerftestKeys keys;
  keys.lid = static_cast<std::uint16_t>(reader.number("LID", 4, kAny));
  keys.out_reads = static_cast<std::uint16_t>(reader.number("number of outstanding READs", 4, kAny));
  keys.qpn = Qpn{static_cast<std::uint32_t>(reader.number("QPN", 6, Qpn::kMax))};
  keys.psn = Psn{static_cast<std::uint32_t>(reader.number("PSN", 6, Psn::kMax))};
  keys.r_key = RKey{static_cast<std::uint32_t>(reader.number("R_Key", 8, kAny))};
  keys.address = reader.number("address", 16, kAny);
  for (std::uint8_t& octet : keys.gid.octets) octet = static_cast<std::uint8_t>(reader.number("GID octet", 2, kAny));
  keys.srqn = static_cast<std::uint32_t>(reader.number("SRQN", 8, kAny));
  if (!reader.error().empty()) return tl::unexpected(reader.error());
  if (reader.rest() != std::string_view{"\0", 1}) return tl::unexpected(std::string{"does not end with a NUL"});
  return keys;
}

std::string to_binary(const PerftestKeys& keys, std::size_t size) {
  std::string bytes;
  put(bytes, keys.lid, 4);
  put(bytes, keys.out_reads, 4);
  put(bytes, keys.qpn.value(), 4);
  put(bytes, keys.psn.value(), 4);
  put(bytes, keys.r_key.value(), 4);
  put(bytes, 0, 4);
  put(bytes, keys.address, 8);
  if (size == PerftestKeys::kLongBinarySize) put(bytes, 0, 8);
  for (const std::uint8_t octet : keys.gid.octets) put(bytes, octet, 1);
  put(bytes, keys.srqn, 4);
  put(bytes, 0, 4);
  return bytes;
}

tl::expected<PerftestKeys, std::string> parse_binary_perftest_keys(std::string_view bytes) {
  if (bytes.size() != PerftestKeys::kBinarySize && bytes.size() != PerftestKeys::kLongBinarySize) {
    return tl::unexpected(fmt::format("has {} bytes, not {} or {}", bytes.size(), PerftestKeys::kBinarySize,
                                      PerftestKeys::kLongBinarySize));
  }
  BinaryReader reader{bytes};
  PerftestKeys keys;
  keys.lid = static_cast<std::uint16_t>(reader.number("LID", 4, kMax16));
  keys.out_reads = static_cast<std::uint16_t>(reader.number("number of outstanding READs", 4, kMax16));
  keys.qpn = Qpn{static_cast<std::uint32_t>(reader.number("QPN", 4, Qpn::kMax))};
  keys.psn = Psn{static_cast<std::uint32_t>(reader.number("PSN", 4, Psn::kMax))};
  keys.r_key = RKey{static_cast<std::uint32_t>(reader.number("R_Key", 4, kAny))};
  reader.skip(4);
  keys.address = reader.number("address", 8, kAny);
  if (bytes.size() == PerftestKeys::kLongBinarySize) reader.skip(8);
  for (std::uint8_t& octet : keys.gid.octets) octet = static_cast<std::uint8_t>(reader.number("GID octet", 1, kAny));
  keys.srqn = static_cast<std::uint32_t>(reader.number("SRQN", 4, kAny));
  if (!reader.error().empty()) return tl::unexpected(reader.error());
  return keys;
}

}  // namespace roce
