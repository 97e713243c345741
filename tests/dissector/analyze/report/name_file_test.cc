// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/report/name_file.h"

#include <gmock/gmock.h>

#include "dissector/analyze/program.h"

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

NameFile parse(std::string_view text) {
  auto names = NameFile::parse(text, "names");
  EXPECT_TRUE(names.has_value()) << (names ? "" : names.error());
  return names ? *std::move(names) : NameFile{};
}

std::string error(std::string_view text) {
  const auto names = NameFile::parse(text, "names");
  EXPECT_FALSE(names.has_value()) << text;
  return names ? "" : names.error();
}

TEST(NameFileTest, NamesAddresses) {
  const NameFile names = parse(
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

TEST(NameFileTest, TheLongestPrefixDecides) {
  const NameFile names = parse(
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

TEST(NameFileTest, NothingIsFine) {
  EXPECT_TRUE(parse("").empty());
  EXPECT_TRUE(parse("# nothing\n\n   \n#").empty());
  EXPECT_EQ(NameFile{}.find(v4(1, 2, 3, 4)), "");
}

TEST(NameFileTest, ErrorsSayWhichLine) {
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

using NameFileProgramTest = ProgramTest;

TEST_F(NameFileProgramTest, ReadsAFile) {
  const auto names = NameFile::load(save("names", "10.0.0.1 a\n"));
  ASSERT_TRUE(names.has_value()) << names.error();
  EXPECT_EQ(names->find(v4(10, 0, 0, 1)), "a");
  const std::string bad = save("bad", "x\n");
  EXPECT_THAT(NameFile::load(bad).error(), StartsWith(bad + ": line 1: "));
  EXPECT_EQ(NameFile::load(path("none")).error(),
            "cannot read the names in '" + path("none") + "': No such file or directory");
  EXPECT_THAT(NameFile::load(path("")).error(), HasSubstr("Is a directory"));
}

}  // namespace
}  // namespace roce::analyze::test
