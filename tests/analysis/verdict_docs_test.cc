// SPDX-License-Identifier: BSD-2-Clause
// docs/analysis.md has a section for every verdict and every rule that is judged, and it agrees with the code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "roce/analysis/verdict.h"
#include "support/source_tree.h"

namespace roce::analysis {
namespace {

using ::testing::HasSubstr;

std::string read_docs() {
  std::ifstream file{roce::test::source_folder() + "/docs/analysis.md"};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Returns the text below each heading `### name`, up to the next heading. `mark` is the mark of the heading: `### `.
std::map<std::string, std::string> sections(std::string_view mark = "### ") {
  std::map<std::string, std::string> all;
  std::istringstream lines{read_docs()};
  std::string heading;
  bool is_code = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) is_code = !is_code;
    if (!is_code && line.starts_with("#")) heading = line.starts_with(mark) ? line.substr(mark.size()) : "";
    if (!heading.empty()) all[heading] += line + '\n';
  }
  return all;
}

class VerdictDocs : public ::testing::TestWithParam<VerdictInfo> {};

TEST_P(VerdictDocs, HasItsSection) {
  const VerdictInfo& info = GetParam();
  const auto all = sections();
  const auto found = all.find(std::string{info.name});
  ASSERT_NE(found, all.end()) << "docs/analysis.md has no heading ### " << info.name;
  const std::string& text = found->second;
  const std::string time = info.time == VerdictTime::immediate ? "Immediate" : "Retrospective";
  const std::string severity = info.severity == Severity::note      ? "note"
                               : info.severity == Severity::warning ? "warning"
                                                                    : "error";
  std::string sentence{info.text};
  sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
  EXPECT_THAT(text, HasSubstr('*' + time + ", " + severity + ".* " + sentence + ".\n"));
  EXPECT_THAT(text, HasSubstr("\n```\n")) << "it has no diagram";
  for (const char* part : {"**It means** ", "**It does not prove** ", "**Do** "}) EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(read_docs(), HasSubstr("(#" + std::string{info.name} + ')')) << "the table of contents lacks it";
}

TEST_P(VerdictDocs, HasAName) {
  const VerdictInfo& info = GetParam();
  EXPECT_EQ(verdict_from_name(info.name), info.kind);
  EXPECT_EQ(&verdict_info(info.kind), &verdict_infos()[static_cast<std::size_t>(info.kind)]);
  EXPECT_FALSE(info.text.empty());
  EXPECT_FALSE(info.text.ends_with('.'));
}

INSTANTIATE_TEST_SUITE_P(All, VerdictDocs, ::testing::ValuesIn(verdict_infos().begin(), verdict_infos().end()),
                         [](const auto& each) { return std::string{each.param.name}; });

class RuleDocs : public ::testing::TestWithParam<RuleInfo> {};

TEST_P(RuleDocs, HasItsSection) {
  const RuleInfo& info = GetParam();
  const auto all = sections("#### ");
  const auto found = all.find(std::string{info.identifier});
  ASSERT_NE(found, all.end()) << "docs/analysis.md has no heading #### " << info.identifier;
  const std::string party = info.party == RuleParty::either      ? "Either end"
                            : info.party == RuleParty::requester ? "Requester"
                                                                 : "Responder";
  std::string sentence{info.text};
  sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
  EXPECT_THAT(found->second, HasSubstr('*' + party + ".* " + sentence + ".\n"));
}

TEST_P(RuleDocs, IsInTheBookOfRules) {
  std::ifstream file{roce::test::source_folder() + "/docs/rules.md"};
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_THAT(text.str(), HasSubstr("\n| " + std::string{GetParam().identifier} + " | "));
}

std::string name_of_rule(const ::testing::TestParamInfo<RuleInfo>& test) {
  std::string name{test.param.identifier};
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, RuleDocs, ::testing::ValuesIn(rule_infos().begin(), rule_infos().end()), name_of_rule);

TEST(VerdictNames, OthersAreNone) {
  EXPECT_EQ(verdict_from_name(""), std::nullopt);
  EXPECT_EQ(verdict_from_name("gap "), std::nullopt);
}

}  // namespace
}  // namespace roce::analysis
