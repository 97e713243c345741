// SPDX-License-Identifier: BSD-2-Clause
#include "yaml/fields.h"

#include <gmock/gmock.h>

namespace roce::yaml_input {
namespace {

[[nodiscard]] YamlResult<Fields> fields_of(const std::string& text) {
  const tl::expected<YAML::Node, YamlError> node = load(text);
  EXPECT_TRUE(node.has_value());
  return Fields::read(*node, "the switch");
}

TEST(YamlFields, GivesTheValuesOfNames) {
  YamlResult<Fields> fields = fields_of("{buffer: 16MB, red: {kmin: 5KB}}");
  ASSERT_TRUE(fields.has_value());
  EXPECT_EQ(fields->take("buffer")->Scalar(), "16MB");
  EXPECT_TRUE(fields->need("red")->IsMap());
  EXPECT_FALSE(fields->take("pfc").has_value());
  EXPECT_TRUE(fields->finish().has_value());
}

TEST(YamlFields, RefusesNamesThatNobodyAskedFor) {
  YamlResult<Fields> fields = fields_of("buffer: 1\nbufer: 2\n");
  ASSERT_TRUE(fields.has_value());
  (void)fields->take("buffer");
  (void)fields->take("red");
  const YamlResult<void> finished = fields->finish();
  ASSERT_FALSE(finished.has_value());
  EXPECT_EQ(finished.error().what, "the switch: \"bufer\" is unknown; there are: buffer, red");
  EXPECT_EQ(finished.error().mark.line, 1);
}

TEST(YamlFields, NamesWhatIsMissingWhatIsTwiceAndWhatIsNoMap) {
  YamlResult<Fields> fields = fields_of("{buffer: 1}");
  ASSERT_TRUE(fields.has_value());
  EXPECT_EQ(fields->need("pfc").error().what, "the switch: there is no \"pfc\"");
  EXPECT_EQ(fields_of("[1, 2]").error().what, "the switch: expected names and values");
  EXPECT_EQ(fields_of("a: 1\na: 2\n").error().what, "the switch: \"a\" is there twice");
  EXPECT_EQ(fields_of("a: 1\na: 2\n").error().mark.line, 1);
  EXPECT_EQ(read_scalar(*load("[1]"), "the buffer").error().what, "the buffer: expected one value");
}

}  // namespace
}  // namespace roce::yaml_input
