// SPDX-License-Identifier: BSD-2-Clause
// The parts of roce-gen that do not need a network.
#include <gmock/gmock.h>
#include <sys/socket.h>

#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gen/exchange/exchange_command.h"
#include "roce/live/json_lines.h"
#include "roce/live/pattern.h"
#include "roce/live/pingpong_message.h"

namespace roce::gen {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Pattern, FindsTheFirstWrongByteAtEveryPlace) {
  std::vector<std::byte> memory(37);
  live::fill_pattern(memory, 5);
  EXPECT_EQ(live::find_wrong_byte(memory, 5), std::nullopt);
  EXPECT_NE(live::find_wrong_byte(memory, 6), std::nullopt);
  for (std::size_t at = 0; at < memory.size(); ++at) {
    memory[at] ^= std::byte{0x10};
    EXPECT_EQ(live::find_wrong_byte(memory, 5), at);
    memory[at] ^= std::byte{0x10};
  }
}

// The pattern that docs/control.md describes, worked out by hand for seed 0: the first word is the factor.
TEST(Pattern, IsTheOneThatIsWrittenDown) {
  std::vector<std::byte> memory(8);
  live::fill_pattern(memory, 0);
  EXPECT_THAT(memory, ElementsAre(std::byte{0x15}, std::byte{0x7C}, std::byte{0x4A}, std::byte{0x7F}, std::byte{0xB9},
                                  std::byte{0x79}, std::byte{0x37}, std::byte{0x9E}));
}

// Worked out from docs/control.md by another program.
TEST(Digest, IsTheOneThatIsWrittenDown) {
  std::vector<std::byte> bytes(16);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i + 1);
  EXPECT_EQ(live::digest_of(std::span{bytes}.first(1)), 0x9E3779BD8EF1B1DE);
  EXPECT_EQ(live::digest_of(bytes), 0x644A111ED297934D);
  EXPECT_EQ(live::digest_of(std::span{bytes}.subspan(8), live::digest_of(std::span{bytes}.first(8))),
            0x644A111ED297934D);
  EXPECT_EQ(live::digest_of({}), 0U);
}

TEST(Sizes, AreNumbersListsAndRanges) {
  EXPECT_THAT(parse_sizes("4096")->sizes, ElementsAre(4096));
  EXPECT_THAT(parse_sizes("1,64k,3")->sizes, ElementsAre(1, 65536, 3));
  EXPECT_THAT(parse_sizes("64-1000")->sizes, ElementsAre(64, 128, 256, 512, 1000));
  EXPECT_THAT(parse_sizes("1M")->sizes, ElementsAre(1048576));
  for (const char* wrong : {"", "0", "-1", "4096,", "k", "1.5", "9-3", "2000M", "12x", "1,,2", "nan", "1e99"}) {
    ASSERT_FALSE(parse_sizes(wrong)) << wrong;
    EXPECT_THAT(parse_sizes(wrong).error().message, HasSubstr(wrong));
  }
}

TEST(Pingpong, MessageIsTheTextOfThePrograms) {
  live::PingpongMessage message;
  message.qpn = Qpn{0x11};
  message.psn = Psn{0xABCDEF};
  message.gid = Gid::from_ipv4(Ipv4Address{{10, 77, 0, 1}});
  const auto text = to_text(message);
  EXPECT_EQ(std::string(text.data(), text.size()),
            std::string("0000:000011:abcdef:00000000000000000000ffff0a4d0001\0", live::PingpongMessage::kSize));
  EXPECT_EQ(live::parse_pingpong({text.data(), text.size()}), message);
}

TEST(Pingpong, AnythingElseIsNoMessage) {
  for (const char* wrong :
       {"", "0000:000011:abcdef", "GET / HTTP/1.1", "0000:1000011:abcdef:00000000000000000000ffff0a4d0001",
        "0000:000011:abcdef:00000000000000000000ffff0a4d00zz",
        ":::", "0000:000011:abcdef:00000000000000000000ffff0a4d000100"}) {
    EXPECT_EQ(live::parse_pingpong(wrong), std::nullopt) << wrong;
  }
}

class JsonLinesPair : public ::testing::Test {
 protected:
  void SetUp() override {
    int fds[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    lines_.emplace(fds[0]);
    other_ = fds[1];
  }
  void TearDown() override {
    if (other_ >= 0) ::close(other_);
  }
  void write(std::string_view text) {
    ASSERT_EQ(::send(other_, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  }

  std::optional<live::JsonLines> lines_;
  int other_ = -1;
};

TEST_F(JsonLinesPair, TakesLinesInPieces) {
  write("{\"a\":");
  ASSERT_TRUE(lines_->receive());
  EXPECT_FALSE(lines_->next().has_value());
  write("1}\n[2]\nrubbish\n{");
  ASSERT_TRUE(lines_->receive());
  EXPECT_EQ((*lines_->next())->at("a"), 1);
  EXPECT_EQ((*lines_->next())->at(0), 2);
  EXPECT_FALSE(lines_->next()->has_value());
  EXPECT_FALSE(lines_->next().has_value());
}

TEST_F(JsonLinesPair, KnowsThatTheOtherEndIsGone) {
  write("1\n");
  ::close(std::exchange(other_, -1));
  EXPECT_TRUE(lines_->receive());
  EXPECT_EQ(**lines_->next(), 1);
  EXPECT_FALSE(lines_->receive());
}

TEST_F(JsonLinesPair, RefusesALineWithoutEnd) {
  const std::string block(65536, 'x');
  bool open = true;
  for (std::size_t sent = 0; open && sent <= 2 * live::JsonLines::kMaxLine; sent += block.size()) {
    write(block);
    open = lines_->receive();
  }
  EXPECT_FALSE(open);
}

TEST_F(JsonLinesPair, TakesNoLineThatIsLongerThanAllowed) {
  lines_->allow(8);
  write("[1,2,33]\n[1,2,333]\n");
  ASSERT_TRUE(lines_->receive());
  EXPECT_EQ((*lines_->next())->size(), 3U);
  EXPECT_FALSE(lines_->receive());
  EXPECT_FALSE(lines_->next().has_value());
}

TEST_F(JsonLinesPair, WritesTextThatIsNoUtf8) {
  EXPECT_TRUE(lines_->send({{"x", "a\xFF"}}));
  std::array<char, 64> buffer{};
  const ssize_t got = ::recv(other_, buffer.data(), buffer.size(), 0);
  ASSERT_GT(got, 0);
  EXPECT_TRUE(nlohmann::json::accept(std::string_view{buffer.data(), static_cast<std::size_t>(got)}));
}

}  // namespace
}  // namespace roce::gen
