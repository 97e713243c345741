// SPDX-License-Identifier: BSD-2-Clause
#include "wireshark/parts/message_assembly.h"

#include <gtest/gtest.h>

namespace roce::plugin {
namespace {

using Bytes = std::vector<std::byte>;
using Channel = MessageAssembly::Channel;
using Message = MessageAssembly::Message;

Bytes bytes(std::size_t size, unsigned value) {
  return Bytes(size, static_cast<std::byte>(value));
}

class MessageAssemblyTest : public ::testing::Test {
 protected:
  static constexpr Channel kChannel{3, 1};

  const Message* add(std::int64_t psn, Opcode opcode, const Bytes& payload, std::uint64_t frame,
                     Channel channel = kChannel) {
    return assembly_.add({.channel = channel, .psn = psn, .place = {frame, 42}, .opcode = opcode, .payload = payload});
  }
  const Message* first(std::int64_t psn, std::uint64_t frame) {
    return add(psn, Opcode::rc_send_first, bytes(2, 1), frame);
  }
  const Message* middle(std::int64_t psn, std::uint64_t frame) {
    return add(psn, Opcode::rc_send_middle, bytes(2, 2), frame);
  }
  const Message* last(std::int64_t psn, std::uint64_t frame) {
    return add(psn, Opcode::rc_send_last, bytes(1, 3), frame);
  }

  MessageAssembly assembly_;
};

const Bytes kThree{std::byte{1}, std::byte{1}, std::byte{2}, std::byte{2}, std::byte{3}};

TEST_F(MessageAssemblyTest, IsWholeWithItsLastPiece) {
  EXPECT_EQ(first(-1, 10), nullptr);
  EXPECT_EQ(middle(0, 11), nullptr);
  EXPECT_EQ(assembly_.find(kChannel, 0), nullptr);
  const Message* const message = last(1, 12);
  ASSERT_NE(message, nullptr);
  EXPECT_EQ(message->bytes, kThree);
  EXPECT_EQ(message->completed_by, (MessageAssembly::Place{12, 42}));
  ASSERT_EQ(message->parts.size(), 3U);
  EXPECT_EQ(message->parts[1].frame, 11U);
  EXPECT_EQ(message->parts[1].offset, 2U);
  EXPECT_EQ(message->parts[2].size, 1U);
  for (const std::int64_t psn : {-1, 0, 1}) EXPECT_EQ(assembly_.find(kChannel, psn), message);
  EXPECT_EQ(assembly_.find(kChannel, 2), nullptr);
  EXPECT_EQ(assembly_.find(kChannel, -2), nullptr);
}

TEST_F(MessageAssemblyTest, TakesPiecesInAnyOrderAndEachOnce) {
  last(7, 10);
  first(5, 11);
  add(5, Opcode::rc_send_first, bytes(2, 9), 12);
  const Message* const message = middle(6, 13);
  ASSERT_NE(message, nullptr);
  EXPECT_EQ(message->bytes, kThree);
  EXPECT_EQ(message->completed_by.frame, 13U);
  EXPECT_EQ(middle(6, 14), nullptr) << "a copy completes nothing";
  EXPECT_EQ(last(7, 15), nullptr);
}

TEST_F(MessageAssemblyTest, KeepsMessagesAndChannelsApart) {
  first(0, 10);
  EXPECT_EQ(add(1, Opcode::rc_send_last, bytes(1, 3), 11, Channel{3, 0}), nullptr);
  EXPECT_EQ(add(1, Opcode::rc_send_last, bytes(1, 3), 12, Channel{4, 1}), nullptr);
  EXPECT_EQ(last(2, 13), nullptr) << "one between them is missing";
}

TEST_F(MessageAssemblyTest, BeginsWhereTheMessageBegins) {
  first(0, 10);
  first(1, 11);
  const Message* const message = last(2, 12);
  ASSERT_NE(message, nullptr);
  EXPECT_EQ(message->parts.size(), 2U);
  EXPECT_EQ(assembly_.find(kChannel, 0), nullptr);
}

TEST_F(MessageAssemblyTest, HasTheOpcodeOfOnePacketWithTheSame) {
  std::int64_t psn = 0;
  const auto whole = [&](Opcode begin, Opcode end) {
    add(psn, begin, bytes(1, 0), 10);
    const Message* const message = add(psn + 1, end, bytes(1, 0), 11);
    psn += 2;
    return message != nullptr ? message->opcode : Opcode::cnp;
  };
  using enum Opcode;
  EXPECT_EQ(whole(rc_send_first, rc_send_last), rc_send_only);
  EXPECT_EQ(whole(rc_send_first, rc_send_last_imm), rc_send_only_imm);
  EXPECT_EQ(whole(rc_send_first, rc_send_last_invalidate), rc_send_only_invalidate);
  EXPECT_EQ(whole(uc_send_first, uc_send_last_imm), uc_send_only_imm);
  EXPECT_EQ(whole(xrc_send_first, xrc_send_last), xrc_send_only);
}

TEST_F(MessageAssemblyTest, GivesUpWhatIsTooLongAndTakesTheNext) {
  add(0, Opcode::rc_send_first, bytes(MessageAssembly::kLargest, 1), 10);
  EXPECT_EQ(last(1, 11), nullptr);
  first(2, 12);
  EXPECT_NE(last(3, 13), nullptr);
}

TEST_F(MessageAssemblyTest, KeepsFewPiecesThatCarryNothing) {
  add(0, Opcode::rc_send_first, {}, 10);
  for (std::int64_t psn = 1; psn < 5000; ++psn) add(psn, Opcode::rc_send_middle, {}, 11);
  EXPECT_EQ(last(5000, 12), nullptr) << "the first one was given up";
}

TEST_F(MessageAssemblyTest, ForgetsWhatNobodyWantedWhenTheFrameIsOver) {
  first(0, 10);
  const Message* const message = last(1, 11);
  assembly_.drop_last();
  first(2, 11);
  EXPECT_EQ(message->bytes.size(), 3U) << "the frame is still shown";
  middle(3, 12);
  EXPECT_TRUE(message->bytes.empty());
  EXPECT_EQ(message->parts.size(), 2U);
  EXPECT_EQ(assembly_.find(kChannel, 1), message);
}

TEST_F(MessageAssemblyTest, KnowsNothingAfterClear) {
  first(0, 10);
  last(1, 11);
  assembly_.clear();
  EXPECT_EQ(assembly_.find(kChannel, 0), nullptr);
}

}  // namespace
}  // namespace roce::plugin
