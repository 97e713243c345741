// SPDX-License-Identifier: BSD-2-Clause
#include "roce/json_input/json_input.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>

namespace roce::json_input {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using ::testing::HasSubstr;

std::string nested(std::size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

TEST(JsonInput, IsWhatWasWritten) {
  constexpr std::string_view kText =
      R"({"b": [1, -2, 2.5, "\u00e4", null], "a": {"x": true, "y": {}}, "largest": 18446744073709551615})";
  const auto read = parse<ordered_json>(kText);
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->dump(), R"({"b":[1,-2,2.5,"ä",null],"a":{"x":true,"y":{}},"largest":18446744073709551615})");
  EXPECT_EQ(*parse<json>(kText), json::parse(kText));
  EXPECT_EQ(*parse<json>("7"), json(7));
}

TEST(JsonInput, CommentsAreTakenWhereTheyMayBe) {
  constexpr std::string_view kText = "/* rules */ [1] // end";
  EXPECT_FALSE(parse<json>(kText));
  EXPECT_EQ(*parse<json>(kText, {}, Comments::ignored), json::array({1}));
}

TEST(JsonInput, IsNeverDeeperThanItsBound) {
  const Bounds bounds{.bytes = 1 << 20, .depth = 5};
  EXPECT_TRUE(parse<json>(nested(5), bounds));
  for (const std::size_t depth : {std::size_t{6}, std::size_t{100'000}}) {
    const auto refused = parse<json>(nested(depth), bounds);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what, HasSubstr("at most 5 deep"));
  }
  std::string objects;
  for (int i = 0; i < 6; ++i) objects += R"({"a":)";
  EXPECT_FALSE(parse<ordered_json>(objects + "1" + std::string(6, '}'), bounds));
}

TEST(JsonInput, HasNoMoreThanItsBoundsSay) {
  const Bounds bounds{.bytes = 20, .depth = 3, .values = 4, .members = 2};
  EXPECT_TRUE(parse<json>("[1,2,3]", bounds));
  EXPECT_THAT(parse<json>("[1,2,3,4]", bounds).error().what, HasSubstr("at most 4 values"));
  EXPECT_THAT(parse<json>(std::string(21, ' '), bounds).error().what, HasSubstr("at most 20 bytes"));
  EXPECT_TRUE(parse<json>(R"({"a":1,"b":2})", bounds));
  EXPECT_THAT(parse<json>(R"({"a":1,"b":2,"c":3})", bounds).error().what, HasSubstr("at most 2 members"));
}

TEST(JsonInput, AMemberStandsOnce) {
  for (const char* text : {R"({"op":"poll","op":"hello"})", R"([{"a":{"b":1,"b":1}}])"}) {
    EXPECT_THAT(parse<json>(text).error().what, HasSubstr("again")) << text;
    EXPECT_THAT(parse<ordered_json>(text).error().what, HasSubstr("again")) << text;
  }
}

TEST(JsonInput, WhatIsNoJsonIsRefusedInAShortSentence) {
  const std::string digits(100'000, '9');
  for (const std::string& text :
       {std::string{}, std::string{"{"}, std::string{"[1,]"}, std::string{"NaN"}, std::string{"[Infinity]"},
        std::string{"\"\xFF\""}, std::string{"\"\\ud800\""}, std::string{"{} {}"}, "\"" + digits, "[" + digits + "]"}) {
    const auto refused = parse<json>(text);
    ASSERT_FALSE(refused) << text.substr(0, 20);
    EXPECT_LT(refused.error().what.size(), 200U);
    EXPECT_NO_THROW((void)json(refused.error().what).dump());
  }
  EXPECT_THAT(parse<json>("1e999").error().what, HasSubstr("a double can hold"));
}

TEST(JsonInput, IsShownInAFewBytes) {
  EXPECT_EQ(shown_value(json(7)), "7");
  EXPECT_EQ(shown_value(json(-1.5)), "-1.5");
  EXPECT_EQ(shown_value(json("a\x1b\n")), "\"a..\"");
  EXPECT_EQ(shown_value(json::array({1, 2})), "a list");
  EXPECT_EQ(shown_value(json::object()), "an object");
  EXPECT_EQ(shown_value(json(std::string(1000, 'x')), 3), "\"xxx…\"");
}

}  // namespace
}  // namespace roce::json_input
