// SPDX-License-Identifier: BSD-2-Clause
// YAML from outside: the contents that are accepted, and the errors for what is beyond the bounds.
#include "yaml/yaml_input.h"

#include <gmock/gmock.h>

#include <fstream>

#include "support/temporary_folder.h"

namespace roce::yaml_input {
namespace {

using testing::HasSubstr;

std::string error_of(const std::string& text, const Bounds& bounds = {}) {
  const auto root = load(text, bounds);
  return root ? "" : root.error().what;
}

std::string repeated(std::string_view part, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += part;
  return text;
}

TEST(YamlInput, IsReadWithItsAliases) {
  const auto root = load("first: &a {x: 1}\nsecond: *a\n");
  ASSERT_TRUE(root.has_value()) << root.error().what;
  EXPECT_EQ((*root)["second"]["x"].Scalar(), "1");
  EXPECT_TRUE(load("")->IsNull());
}

TEST(YamlInput, HasABoundOfItsDepth) {
  EXPECT_EQ(error_of(repeated("[", 16) + repeated("]", 16)), "");
  EXPECT_THAT(error_of(repeated("[", 17) + repeated("]", 17)), HasSubstr("more than 16 deep"));
  // A parser that followed every level, or the recursive destruction of a tree, would run out of stack.
  for (const std::string_view opener : {"[", "{a: ", "? ", "- "}) {
    EXPECT_THAT(error_of(repeated(opener, 100'000)), HasSubstr("more than 16 deep")) << opener;
  }
}

TEST(YamlInput, SaysWhereItIsBeyondABound) {
  const auto root = load("a: 1\nb: [[1]]\n", {.depth = 2});
  ASSERT_FALSE(root.has_value());
  EXPECT_EQ(root.error().mark.line, 1);
  EXPECT_EQ(root.error().mark.column, 4);
}

TEST(YamlInput, HasABoundOfItsValues) {
  EXPECT_EQ(error_of("[1, 2, 3]", {.nodes = 4}), "");
  EXPECT_THAT(error_of("[1, 2, 3, 4]", {.nodes = 4}), HasSubstr("more than 4 values"));
}

TEST(YamlInput, CountsAnAliasAsWhatItStandsFor) {
  EXPECT_EQ(error_of("[&a [1, 2], *a]", {.nodes = 7}), "");
  EXPECT_THAT(error_of("[&a [1, 2], *a]", {.nodes = 6}), HasSubstr("more than 6 values"));
  // "Billion laughs": each level holds nine of the level below; 300 bytes of text make four billion values.
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 9; ++j) laughs += (j == 0 ? "*a" : ", *a") + std::to_string(i - 1);
    laughs += "]\n";
  }
  EXPECT_THAT(error_of(laughs), HasSubstr("more than 500000 values"));
}

TEST(YamlInput, HasNoAliasInsideOfWhatItStandsFor) {
  EXPECT_THAT(error_of("&a [*a]"), HasSubstr("an alias stands inside of what it stands for"));
  EXPECT_THAT(error_of("&a {x: {y: *a}}"), HasSubstr("an alias stands inside of what it stands for"));
}

TEST(YamlInput, HasABoundOfItsLength) {
  EXPECT_EQ(error_of("abcd", {.bytes = 4}), "");
  EXPECT_THAT(error_of("abcde", {.bytes = 4}), HasSubstr("longer than 4 bytes"));
}

TEST(YamlInput, SaysWhatIsNoYaml) {
  EXPECT_THAT(error_of("{a: 1"), HasSubstr("this is no YAML: "));
  EXPECT_THAT(error_of("*nobody"), HasSubstr("this is no YAML: "));
}

TEST(YamlFiles, AreReadAsFarAsTheirBound) {
  const roce::test::TemporaryFolder folder;
  const std::string path = folder.path("ten.yaml");
  std::ofstream{path} << "0123456789";
  EXPECT_EQ(read_file(path).value(), "0123456789");
  EXPECT_EQ(read_file(path, {.bytes = 9}).error().what, "it is longer than 9 bytes; split it");
  // /dev/zero has no end.
  EXPECT_THAT(read_file("/dev/zero").error().what, HasSubstr("longer than"));
  EXPECT_THAT(read_file("/nowhere").error().what, HasSubstr("No such file"));
  EXPECT_THAT(read_file("/").error().what, HasSubstr("Is a directory"));
}

}  // namespace
}  // namespace roce::yaml_input
