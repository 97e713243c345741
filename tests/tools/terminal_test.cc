// SPDX-License-Identifier: BSD-2-Clause
#include "text/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <cstdlib>

namespace roce::text {
namespace {

TEST(TerminalTest, WidthOfLetters) {
  EXPECT_EQ(display_width(""), 0U);
  EXPECT_EQ(display_width("eth0"), 4U);
  EXPECT_EQ(display_width("Zürich"), 6U);
  EXPECT_EQ(display_width("Zu\u0308rich"), 6U);
  EXPECT_EQ(display_width("東京"), 4U);
  EXPECT_EQ(display_width("▁▂"), 2U);
  EXPECT_EQ(display_width("🙂"), 2U);
  EXPECT_EQ(display_width("\xff\xc3"), 2U);
  EXPECT_EQ(display_width("\xe6\x9d"), 2U);
}

TEST(TerminalTest, ClipsBetweenLetters) {
  const auto clipped = [](std::string_view text, std::size_t width) {
    TextBuffer out;
    const std::size_t used = append_clipped(out, text, width);
    EXPECT_LE(used, width);
    return fmt::to_string(out);
  };
  EXPECT_EQ(clipped("Zürich", 2), "Zü");
  EXPECT_EQ(clipped("東京", 3), "東");
  EXPECT_EQ(clipped("abc", 9), "abc");
  EXPECT_EQ(clipped("a\033[1mb", 9), "a?[1mb");
  EXPECT_EQ(clipped("abc", 0), "");
}

/// Sets variables of the environment and puts them back.
class EnvironmentTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG", "COLUMNS"}) {
      const char* value = std::getenv(name);
      if (value != nullptr) before_.emplace_back(name, value);
      unsetenv(name);
    }
  }
  void TearDown() override {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG", "COLUMNS"}) unsetenv(name);
    for (const auto& [name, value] : before_) setenv(name.c_str(), value.c_str(), 1);
  }

 private:
  std::vector<std::pair<std::string, std::string>> before_;
};

using TerminalEnvironmentTest = EnvironmentTest;

TEST_F(TerminalEnvironmentTest, TheFirstVariableOfTheLocaleDecides) {
  EXPECT_EQ(locale_charset(), Charset::ascii);
  setenv("LANG", "de_DE.UTF-8", 1);
  EXPECT_EQ(locale_charset(), Charset::utf8);
  setenv("LC_CTYPE", "C", 1);
  EXPECT_EQ(locale_charset(), Charset::ascii);
  setenv("LC_ALL", "C.utf8", 1);
  EXPECT_EQ(locale_charset(), Charset::utf8);
  setenv("LC_ALL", "", 1);
  EXPECT_EQ(locale_charset(), Charset::ascii);
}

TEST_F(TerminalEnvironmentTest, WidthOfATerminal) {
  winsize size{};
  size.ws_col = 133;
  int ours = -1;
  int terminal = -1;
  ASSERT_EQ(openpty(&ours, &terminal, nullptr, nullptr, &size), 0);
  EXPECT_EQ(terminal_width(terminal), 133U);
  setenv("COLUMNS", "77", 1);
  EXPECT_EQ(terminal_width(terminal), 77U);
  setenv("COLUMNS", "wide", 1);
  EXPECT_EQ(terminal_width(terminal), 133U);
  close(ours);
  close(terminal);
  const int file = open("/dev/null", O_WRONLY | O_CLOEXEC);
  setenv("COLUMNS", "77", 1);
  EXPECT_EQ(terminal_width(file), 0U);
  close(file);
}

}  // namespace
}  // namespace roce::text
