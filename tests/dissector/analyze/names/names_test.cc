// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/names/names.h"

#include <gtest/gtest.h>

namespace roce::analyze::test {
namespace {

constexpr Gid kHost = Gid::from_ipv4({{10, 0, 0, 1}});

TEST(NamesTest, WhatIsGivenCountsBeforeWhatIsSuggested) {
  Names names;
  names.suggest(kHost, "from a log");
  names.suggest(kHost, Qpn{17}, "QP from a log");
  EXPECT_EQ(names.text(QpEnd{.address = kHost, .qpn = Qpn{17}}), "from a log QP from a log");
  EXPECT_EQ(names.give(kHost, 128, {.text = "host", .source = "file", .line = 1}), nullptr);
  EXPECT_EQ(names.give(kHost, Qpn{17}, {.text = "QP", .source = "file", .line = 2}), nullptr);
  EXPECT_EQ(names.text(QpEnd{.address = kHost, .qpn = Qpn{17}}), "host QP");
}

TEST(NamesTest, ANetworkHidesSuggestions) {
  Names names;
  names.suggest(kHost, "from a log");
  EXPECT_EQ(names.give(kHost, 96 + 8, {.text = "ten", .source = "file", .line = 1}), nullptr);
  EXPECT_EQ(names.text(kHost), "ten");
}

TEST(NamesTest, DifferentSuggestionsAreAllShown) {
  Names names;
  for (const char* const name : {"a", "a", "b", "a"}) names.suggest(kHost, name);
  EXPECT_EQ(names.find(kHost), "a or b");
  for (const char* const name : {"c", "d"}) names.suggest(kHost, name);
  EXPECT_EQ(names.find(kHost), "a or b or others");
  for (const char* const name : {"x or y", "z"}) names.suggest(kHost, Qpn{17}, name);
  EXPECT_EQ(names.find(QpEnd{.address = kHost, .qpn = Qpn{17}}), "x or y or z");
}

}  // namespace
}  // namespace roce::analyze::test
