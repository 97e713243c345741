// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/names/name_lines.h"

#include <gmock/gmock.h>

namespace roce::analyze::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr Gid v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
  return Gid::from_ipv4({{a, b, c, d}});
}
constexpr Gid v6(std::uint8_t third, std::uint8_t last) {
  return Gid{{0x20, 0x01, 0x0d, 0xb8, third, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last}};
}

Names parse(std::string_view text) {
  Names names;
  const auto added = add_name_lines(text, "names", names);
  EXPECT_TRUE(added.has_value()) << (added ? "" : added.error());
  return names;
}

std::string error(std::string_view text) {
  Names names;
  const auto added = add_name_lines(text, "names", names);
  EXPECT_FALSE(added.has_value()) << text;
  return added ? "" : added.error();
}

TEST(NameLinesTest, NamesAddresses) {
  const Names names = parse(
      "\xEF\xBB\xBF# rack 3\r\n"
      "192.0.2.17\tnode17 rank 4   # the old one\r\n"
      "\n"
      "  2001:db8::1  storage#1\n"
      "::ffff:192.0.2.18 node18");
  EXPECT_EQ(names.find(v4(192, 0, 2, 17)), "node17 rank 4");
  EXPECT_EQ(names.find(v6(0, 1)), "storage#1");
  EXPECT_EQ(names.find(v4(192, 0, 2, 18)), "node18");
  EXPECT_EQ(names.find(v4(192, 0, 2, 19)), "");
  EXPECT_EQ(names.text(v4(192, 0, 2, 18)), "node18");
  EXPECT_EQ(names.text(v4(192, 0, 2, 19)), "192.0.2.19");
}

TEST(NameLinesTest, TheLongestPrefixDecides) {
  const Names names = parse(
      "0.0.0.0/0 anywhere\n"
      "10.0.0.0/8 ten\n"
      "10.1.2.3/16 ten-one\n"
      "10.1.2.3 host\n"
      "10.1.2.128/25 upper half\n"
      "2001:db8:8000::/33 upper\n"
      "::/0 six\n");
  EXPECT_EQ(names.find(v4(10, 1, 2, 3)), "host");
  EXPECT_EQ(names.find(v4(10, 1, 2, 4)), "ten-one");
  EXPECT_EQ(names.find(v4(10, 1, 2, 127)), "ten-one");
  EXPECT_EQ(names.find(v4(10, 1, 2, 128)), "upper half");
  EXPECT_EQ(names.find(v4(10, 1, 2, 201)), "upper half");
  EXPECT_EQ(names.find(v4(10, 2, 2, 4)), "ten");
  EXPECT_EQ(names.find(v4(11, 0, 0, 0)), "anywhere");
  EXPECT_EQ(names.find(v6(0x80, 1)), "upper");
  EXPECT_EQ(names.find(v6(0xC1, 1)), "upper");
  EXPECT_EQ(names.find(v6(0x7F, 1)), "six");
}

TEST(NameLinesTest, NothingIsFine) {
  EXPECT_TRUE(parse("").empty());
  EXPECT_TRUE(parse("# nothing\n\n   \n#").empty());
  EXPECT_EQ(Names{}.find(v4(1, 2, 3, 4)), "");
}

TEST(NameLinesTest, ErrorsSayWhichLine) {
  EXPECT_EQ(error("10.0.0.1 a\n10.0.0.2\n"),
            "names: line 2: expected a name behind 10.0.0.2, found the end of the line");
  EXPECT_EQ(error("10.0.0.2   # a\n"), "names: line 1: expected a name behind 10.0.0.2, found the end of the line");
  EXPECT_THAT(error("\n\nnode17 10.0.0.1\n"), StartsWith("names: line 3: expected an IPv4 or IPv6 address"));
  EXPECT_THAT(error("10.0.0.1/33 a"), HasSubstr("found '10.0.0.1/33'"));
  EXPECT_THAT(error("02:00:00:00:00:01 a"), HasSubstr("found '02:00:00:00:00:01'"));
  EXPECT_THAT(error(std::string(100'000, 'x')), HasSubstr("found '" + std::string(60, 'x') + "'"));
  EXPECT_THAT(error("10.0.0.1 a\033[2J"), HasSubstr("control characters"));
  EXPECT_EQ(error("10.0.0.1 a\n10.0.0.1 a\n10.0.0.0/8 b\n10.1.1.1/8 c\n"),
            "names: line 4: 10.1.1.1/8 is named 'c' here and 'b' in line 3; remove one of the lines");
}

TEST(NameLinesTest, NamesQpsOfAnAddress) {
  const Names names = parse(
      "192.0.2.17 node17\n"
      "192.0.2.17 qp 0x1a2b rank 4   # its first\n"
      "192.0.2.18 qp 17 rank 5\n"
      "192.0.2.19 qp\n");
  EXPECT_EQ(names.find(QpEnd{.address = v4(192, 0, 2, 17), .qpn = Qpn{0x1A2B}}), "rank 4");
  EXPECT_EQ(names.find(QpEnd{.address = v4(192, 0, 2, 17), .qpn = Qpn{0x1A2C}}), "");
  EXPECT_EQ(names.find(QpEnd{.address = v4(192, 0, 2, 18), .qpn = Qpn{0x1A2B}}), "");
  EXPECT_EQ(names.find(QpEnd{.address = v4(192, 0, 2, 17)}), "");
  EXPECT_EQ(names.text(QpEnd{.address = v4(192, 0, 2, 17), .qpn = Qpn{0x1A2B}}), "node17 rank 4");
  EXPECT_EQ(names.text(QpEnd{.address = v4(192, 0, 2, 18), .qpn = Qpn{17}}), "192.0.2.18 rank 5");
  EXPECT_EQ(names.text(QpEnd{.address = v4(192, 0, 2, 17), .qpn = Qpn{1}}), "node17");
}

TEST(NameLinesTest, ErrorsAboutQpsSayWhichLine) {
  EXPECT_EQ(error("10.0.0.1 qp 0x1000000 a"),
            "names: line 1: expected the number of a QP behind 'qp', 0 to 0xffffff, found '0x1000000'");
  EXPECT_EQ(error("10.0.0.1 qp seventeen a"),
            "names: line 1: expected the number of a QP behind 'qp', 0 to 0xffffff, found 'seventeen'");
  EXPECT_EQ(error("10.0.0.0/8 qp 17 a"), "names: line 1: a QP is of one address, not of 10.0.0.0/8");
  EXPECT_EQ(error("10.0.0.1 qp 17"), "names: line 1: expected a name behind 10.0.0.1 qp 17, found the end of the line");
  EXPECT_EQ(error("10.0.0.1 qp 17 a\n10.0.0.1 qp 0x11 b\n"),
            "names: line 2: 10.0.0.1 qp 0x11 is named 'b' here and 'a' in line 1; remove one of the lines");
}

}  // namespace
}  // namespace roce::analyze::test
