// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "roce/transport/verbs.h"

namespace roce::transport {
namespace {

// Expects that each of the first `count` values has a text of its own, and that the value after them does not.
template <typename Enum>
void expect_texts(unsigned count) {
  std::set<std::string_view> seen;
  for (unsigned i = 0; i < count; ++i) {
    const std::string_view text = to_string(static_cast<Enum>(i));
    EXPECT_FALSE(text.empty() || text == "unknown") << i;
    EXPECT_TRUE(seen.insert(text).second) << text;
  }
  EXPECT_EQ(to_string(static_cast<Enum>(count)), "unknown");
}

TEST(VerbTexts, ExistForEachValue) {
  expect_texts<CompletionStatus>(22);
  expect_texts<QpState>(7);
  expect_texts<QpType>(6);
  expect_texts<WorkOpcode>(12);
  expect_texts<CompletionOpcode>(11);
  expect_texts<EventType>(10);
}

TEST(VerbTexts, OfStatesAndTypesAreThoseOfTheSpecification) {
  EXPECT_EQ(to_string(QpState::reset), "RESET");
  EXPECT_EQ(to_string(QpState::rts), "RTS");
  EXPECT_EQ(to_string(QpState::err), "ERR");
  EXPECT_EQ(to_string(QpType::rc), "RC");
  EXPECT_EQ(to_string(QpType::gsi), "GSI");
  EXPECT_EQ(to_string(QpType::xrc_target), "XRC target");
}

TEST(VerbTexts, OfStatusesGoWithTheNumbersOfLibibverbs) {
  EXPECT_EQ(to_string(static_cast<CompletionStatus>(0)), "success");
  EXPECT_EQ(to_string(static_cast<CompletionStatus>(1)), "local length error");
  EXPECT_EQ(to_string(static_cast<CompletionStatus>(5)), "work request flushed error");
  EXPECT_EQ(to_string(static_cast<CompletionStatus>(10)), "remote access error");
  EXPECT_EQ(to_string(static_cast<CompletionStatus>(12)), "transport retry counter exceeded");
  EXPECT_EQ(to_string(static_cast<CompletionStatus>(13)), "RNR retry counter exceeded");
}

}  // namespace
}  // namespace roce::transport
