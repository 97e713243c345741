// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/input/hex_input.h"

#include <gtest/gtest.h>

#include <string>

#include "support/hex.h"
#include "support/vectors.h"

namespace roce::analyze {
namespace {

using Frames = std::vector<std::vector<std::byte>>;

const std::vector<std::byte> kFrame = roce::test::from_hex(roce::test::kT1.hex);

void expect_t1(std::string_view text) {
  const auto frames = parse_hex_frames(text);
  ASSERT_TRUE(frames.has_value()) << frames.error() << "\n" << text;
  ASSERT_EQ(frames->size(), 1U) << text;
  EXPECT_EQ(frames->front(), kFrame) << text;
}

/// Returns the digits of T1 in groups of `group` bytes.
std::string grouped(std::size_t group, std::string_view separator, std::string_view prefix = "") {
  std::string text;
  for (std::size_t i = 0; i < roce::test::kT1.hex.size(); i += 2 * group) {
    if (i > 0) text += separator;
    text += prefix;
    text += roce::test::kT1.hex.substr(i, 2 * group);
  }
  return text;
}

TEST(HexInputTest, PlainDigitsInAllTheirForms) {
  expect_t1(roce::test::kT1.hex);
  expect_t1("0x" + std::string{roce::test::kT1.hex});
  expect_t1(grouped(1, " "));
  expect_t1(grouped(1, ":"));
  expect_t1(grouped(1, "-"));
  expect_t1(grouped(2, "."));
  expect_t1(grouped(2, " "));
  expect_t1(grouped(4, "\n"));
  expect_t1(grouped(15, "\r\n"));
  expect_t1("{ " + grouped(1, ", ", "0x") + " };");
  expect_t1("\"" + grouped(1, "", "\\x") + "\"");
  std::string upper = grouped(1, " ");
  for (char& c : upper) c = static_cast<char>(std::toupper(c));
  expect_t1(upper);
}

// The frame T1 as several tools print it, pasted.
TEST(HexInputTest, TcpdumpXx) {
  expect_t1(R"(22:22:11.000001 IP 192.0.2.1.49443 > 192.0.2.2.4791: UDP, length 24
	0x0000:  0200 0000 0002 0200 0000 0001 0800 4502
	0x0010:  0034 1234 4000 4011 a47f c000 0201 c000
	0x0020:  0202 c123 12b7 0020 0000 0430 ffff 0000
	0x0030:  0011 8000 0100 6865 6c6c 6f00 0000 5f00
	0x0040:  9a4e
)");
}

TEST(HexInputTest, TcpdumpCapitalXx) {
  expect_t1(R"(	0x0000:  0200 0000 0002 0200 0000 0001 0800 4502  ..............E.
	0x0010:  0034 1234 4000 4011 a47f c000 0201 c000  .4.4@.@.........
	0x0020:  0202 c123 12b7 0020 0000 0430 ffff 0000  ...#.......0....
	0x0030:  0011 8000 0100 6865 6c6c 6f00 0000 5f00  ......hello..._.
	0x0040:  9a4e                                     .N
)");
}

TEST(HexInputTest, Xxd) {
  expect_t1(R"(00000000: 0200 0000 0002 0200 0000 0001 0800 4502  ..............E.
00000010: 0034 1234 4000 4011 a47f c000 0201 c000  .4.4@.@.........
00000020: 0202 c123 12b7 0020 0000 0430 ffff 0000  ...#... ...0....
00000030: 0011 8000 0100 6865 6c6c 6f00 0000 5f00  ......hello..._.
00000040: 9a4e                                     .N
)");
}

TEST(HexInputTest, HexdumpC) {
  expect_t1(R"(00000000  02 00 00 00 00 02 02 00  00 00 00 01 08 00 45 02  |..............E.|
00000010  00 34 12 34 40 00 40 11  a4 7f c0 00 02 01 c0 00  |.4.4@.@.........|
00000020  02 02 c1 23 12 b7 00 20  00 00 04 30 ff ff 00 00  |...#... ...0....|
00000030  00 11 80 00 01 00 68 65  6c 6c 6f 00 00 00 5f 00  |......hello..._.|
00000040  9a 4e                                             |.N|
00000042
)");
}

TEST(HexInputTest, Wireshark) {
  expect_t1(R"(0000   02 00 00 00 00 02 02 00 00 00 00 01 08 00 45 02   ..............E.
0010   00 34 12 34 40 00 40 11 a4 7f c0 00 02 01 c0 00   .4.4@.@.........
0020   02 02 c1 23 12 b7 00 20 00 00 04 30 ff ff 00 00   ...#... ...0....
0030   00 11 80 00 01 00 68 65 6c 6c 6f 00 00 00 5f 00   ......hello..._.
0040   9a 4e                                             .N
)");
}

TEST(HexInputTest, TextBesideTheDigitsMayLookLikeDigits) {
  const auto frames = parse_hex_frames(
      "0000  61 62 63 64 65 66 30 31  abcdef01\n"
      "0008  61 62 63 64  abcd\n");
  ASSERT_TRUE(frames.has_value()) << frames.error();
  EXPECT_EQ(*frames, (Frames{roce::test::from_hex("616263646566303161626364")}));
}

TEST(HexInputTest, DigitsThatOnlyLookLikeAnOffset) {
  const auto frames = parse_hex_frames("0000 5e00 0101 0200\n0000 0001 0800 4500\n");
  ASSERT_TRUE(frames.has_value()) << frames.error();
  EXPECT_EQ(*frames, (Frames{roce::test::from_hex("00005e00010102000000000108004500")}));
}

TEST(HexInputTest, ShortNumbersOfAProgram) {
  const auto frames = parse_hex_frames("{0x1, 0x02, 0xA}");
  ASSERT_TRUE(frames.has_value()) << frames.error();
  EXPECT_EQ(*frames, (Frames{roce::test::from_hex("01020a")}));
}

TEST(HexInputTest, SeveralFrames) {
  const auto plain = parse_hex_frames("01 02\n03\n\n04 05\n");
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(*plain, (Frames{roce::test::from_hex("010203"), roce::test::from_hex("0405")}));
  const auto dump = parse_hex_frames("1 0.0 A -> B\n0000  01 02 03 04\n0004  05\n2 0.1 A -> B\n0000  06 07\n");
  ASSERT_TRUE(dump.has_value()) << dump.error();
  EXPECT_EQ(*dump, (Frames{roce::test::from_hex("0102030405"), roce::test::from_hex("0607")}));
}

TEST(HexInputTest, ErrorsSayWhereAndWhat) {
  const auto expect = [](std::string_view text, std::string_view part) {
    const auto frames = parse_hex_frames(text);
    ASSERT_FALSE(frames.has_value()) << text;
    EXPECT_NE(frames.error().find(part), std::string::npos) << frames.error();
  };
  expect("", "found nothing");
  expect(" \n\n", "found nothing");
  expect("01 02\nxyz", "line 2: expected hex digits, found 'xyz'");
  expect("0102030", "found 7 of them");
  expect("01 2 03", "found 1 of them");
  expect("0000  01 02\n0003  04\n", "line 2: expected offset 0x2, found 0x3");
  expect("0000  01 0z\n0002  04\n", "line 1: expected pairs of hex digits, found '0z'");
}

}  // namespace
}  // namespace roce::analyze
