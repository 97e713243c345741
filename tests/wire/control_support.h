// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "roce/wire/header.h"

/// Helpers that the tests of management and link-control headers share.
namespace roce::control_test {

/// Returns the bytes of hex digits; blanks are skipped.
inline std::vector<std::byte> from_hex(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c != ' ' && c != '\n') digits += c;
  }
  if (digits.size() % 2 != 0) throw std::invalid_argument("odd number of hex digits");
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

inline std::string to_hex(Bytes bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<std::size_t>(byte >> 4)];
    text += kDigits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return text;
}

template <typename H>
std::vector<std::byte> emitted(const H& header) {
  std::vector<std::byte> out(kSize<H>);
  EXPECT_TRUE(emit(header, out));
  return out;
}

inline std::vector<std::byte> random_bytes(std::size_t size, std::mt19937& random) {
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() & 0xFF);
  return bytes;
}

/// Checks that random bytes as the header, and each single bit of it, come out of emit as they went into parse, that
/// each row of the field table writes its own bits and no others, and that a buffer one byte short is refused.
template <typename H>
void check_header() {
  SCOPED_TRACE(kHeader<H>.name);
  constexpr std::size_t size = kSize<H>;
  std::mt19937 random(20);
  for (int round = 0; round < 200; ++round) {
    const auto bytes = random_bytes(size, random);
    const auto header = parse<H>(bytes);
    ASSERT_TRUE(header);
    ASSERT_EQ(to_hex(emitted(*header)), to_hex(bytes));
    ASSERT_EQ(*header, *parse<H>(emitted(*header)));
  }
  for (std::size_t bit = 0; bit < size * 8; ++bit) {
    std::vector<std::byte> bytes(size);
    bytes[bit / 8] = static_cast<std::byte>(0x80 >> bit % 8);
    ASSERT_EQ(to_hex(emitted(*parse<H>(bytes))), to_hex(bytes)) << "bit " << bit;
  }

  const H full = *parse<H>(std::vector<std::byte>(size, std::byte{0xFF}));
  kFields<H>.apply([&](const auto&... row) {
    (
        [&] {
          using Row = std::remove_cvref_t<decltype(row)>;
          // Bytes around the header show a write past its ends.
          std::vector<std::byte> bytes(size + 16);
          Row::field::set(bytes.data() + 8, full.*Row::kMember);
          std::vector<std::byte> expected(size + 16);
          for (std::size_t bit = Row::kOffset; bit < Row::kOffset + Row::kWidth; ++bit) {
            expected[8 + bit / 8] |= static_cast<std::byte>(0x80 >> bit % 8);
          }
          EXPECT_EQ(to_hex(bytes), to_hex(expected)) << row.info.name;
        }(),
        ...);
  });

  std::set<std::string_view> names;
  for (const FieldInfo& info : kFieldInfos<H>) {
    EXPECT_TRUE(names.insert(info.name).second) << "two rows are named " << info.name;
    std::set<std::string_view> values;
    for (const ValueName& value : info.value_names) {
      EXPECT_TRUE(values.insert(value.name).second) << "two values of " << info.name << " are named " << value.name;
      EXPECT_EQ(info.value_name(value.value), value.name) << "two names for one value of " << info.name;
      EXPECT_TRUE(info.bit_width >= 64 || value.value >> info.bit_width == 0) << info.name << " " << value.name;
    }
  }

  const std::vector<std::byte> short_bytes(size - 1);
  const ParseError expected{ParseReason::truncated, kHeader<H>.id, 0, static_cast<std::uint32_t>(size),
                            static_cast<std::uint32_t>(size - 1)};
  EXPECT_EQ(parse<H>(short_bytes).error(), expected);
  std::vector<std::byte> room(size - 1, std::byte{0xA5});
  EXPECT_EQ(emit(full, room).error(), expected);
  EXPECT_EQ(room, std::vector<std::byte>(size - 1, std::byte{0xA5})) << "a refused emit wrote something";
}

// Whole frames without FCS. REQ and REP: an rping-like connection from 192.0.2.1 to 192.0.2.2 port 7174, decoded field
// by field by an independent dissector; the last four bytes are the ICRC.
inline constexpr std::size_t kMadOffset = 62;  ///< after Ethernet, IPv4, UDP, BTH and DETH

inline constexpr std::string_view kReqFrame =
    "020000000002020000000001080045020134123440004011a37fc0000201c0000202c12312b7012000006400ffff0000000100000005"
    "800100000000000101070203000000000000000911223344001000000000000011223344000000000000000001061c06020000000000"
    "000100000000000000000000110100000001000000a0abcdefa7ffff37f0ffffffff00000000000000000000ffffc000020100000000"
    "000000000000ffffc0000202123450000040009000000000000000000000000000000000000000000000000000000000000000000000"
    "000000000000000000000040c350000000000000000000000000c0000201000000000000000000000000c00002020000000000000000"
    "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000b304f400";
inline constexpr std::string_view kRepFrame =
    "020000000002020000000001080045020134123440004011a37fc0000202c0000201c12312b7012000006400ffff0000000100000009"
    "800100000000000101070203000000000000000911223344001300000000000055667788112233440000000000001200000000001234"
    "5600010178e0020000000000000200000000000000000000000000000000000000000000000000000000000000000000000000000000"
    "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000b25d045e";
inline constexpr std::string_view kRtuFrame =
    "020000000002020000000001080045020134123440004011a37fc0000201c0000202c12312b7012000006400ffff0000000100000006"
    "800100000000000101070203000000000000000911223344001400000000000011223344556677880000000000000000000000000000"
    "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000006ae4c949";

/// PFC: priority 3 paused for 0xFFFF quanta, priority 4 resumed.
inline constexpr std::string_view kPfcFrame =
    "0180c2000001020000000001880801010018000000000000ffff00000000000000000000"
    "000000000000000000000000000000000000000000000000";

/// LLDP: ETS configuration and recommendation with priority 3 on traffic class 1 and 50 % each, PFC on priority 3 and
/// three application priorities.
inline constexpr std::string_view kLldpFrame =
    "0180c200000e02000000000188cc02070402000000000104070302000000000106020078"
    "fe190080c209800001000032320000000000000202000000000000"
    "fe190080c20a000001000032320000000000000202000000000000"
    "fe060080c20b8808fe0e0080c20c006189156312b765001a0000";

inline constexpr std::size_t kEthernetSize = 14;

/// Returns the part of a frame in hex from `offset` on.
inline std::vector<std::byte> from_frame(std::string_view frame, std::size_t offset) {
  auto bytes = from_hex(frame);
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
  return bytes;
}

}  // namespace roce::control_test
