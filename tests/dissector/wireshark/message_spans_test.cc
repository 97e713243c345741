// SPDX-License-Identifier: BSD-2-Clause
#include "wireshark/parts/message_spans.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <optional>

namespace roce::plugin {
namespace {

constexpr RequestChannel kChannel{3, 1};

class MessageSpansTest : public testing::Test {
 protected:
  void see(std::uint64_t frame, std::int64_t psn, Opcode opcode, std::uint32_t payload = 1024) {
    analysis::Observation seen;
    seen.id.frame = frame;
    seen.opcode = opcode;
    seen.payload_length = payload;
    spans_.observe(kChannel, psn, seen);
  }
  void see_read(std::uint64_t frame, std::int64_t psn, std::uint64_t address, std::uint32_t length) {
    analysis::Observation seen;
    seen.id.frame = frame;
    seen.opcode = Opcode::rc_read_request;
    seen.has_reth = true;
    seen.virtual_address = address;
    seen.dma_length = length;
    spans_.observe(kChannel, psn, seen);
  }
  [[nodiscard]] std::optional<MessageSpans::Span> find(std::int64_t psn) const { return spans_.find(kChannel, psn); }

  MessageSpans spans_;
};

TEST_F(MessageSpansTest, PacketsBelongToTheMessageThatTheirFirstBegan) {
  see(1, 0, Opcode::rc_send_first);
  see(2, 1, Opcode::rc_send_middle);
  see(3, 2, Opcode::rc_send_last, 10);
  see(4, 3, Opcode::rc_send_only);
  for (const std::int64_t psn : {0, 1, 2}) {
    EXPECT_EQ(find(psn), (MessageSpans::Span{0, 3, 1024, {1, 0}})) << psn;
  }
  EXPECT_EQ(find(3), (MessageSpans::Span{3, 1, 1024, {4, 0}}));
  EXPECT_FALSE(find(4));
}

TEST_F(MessageSpansTest, MiddleWithoutItsFirstBelongsToNoMessage) {
  see(1, 0, Opcode::rc_send_first);
  see(2, 1, Opcode::rc_send_last);
  see(3, 3, Opcode::rc_send_middle);
  see(4, 4, Opcode::rc_send_last);
  EXPECT_FALSE(find(3));
  EXPECT_FALSE(find(4));
  see(5, 2, Opcode::rc_send_first);
  EXPECT_EQ(find(4), (MessageSpans::Span{2, 3, 1024, {5, 0}}));
}

TEST_F(MessageSpansTest, GapWithinAMessageMayHideTheNextOne) {
  see(1, 0, Opcode::rc_send_first);
  see(2, 3, Opcode::rc_send_middle);
  EXPECT_FALSE(find(3));
  see(3, 1, Opcode::rc_send_middle);
  see(4, 2, Opcode::rc_send_middle);
  EXPECT_EQ(find(3), (MessageSpans::Span{0, 0, 1024, {1, 0}}));
}

TEST_F(MessageSpansTest, LengthOfAWriteSaysHowManyPacketsThereAre) {
  analysis::Observation first;
  first.id.frame = 1;
  first.opcode = Opcode::rc_write_first;
  first.has_reth = true;
  first.dma_length = 2049;
  first.payload_length = 1024;
  spans_.observe(kChannel, 0, first);
  see(2, 2, Opcode::rc_write_last, 1);
  EXPECT_EQ(find(2), (MessageSpans::Span{0, 3, 1024, {1, 0}}));
  EXPECT_FALSE(find(3));
}

TEST_F(MessageSpansTest, ResponsesBelongToTheirReadAlsoWhenItIsRepeatedFromItsMiddle) {
  see_read(1, 0, 0x1000, 4096);
  EXPECT_EQ(find(3), (MessageSpans::Span{0, 0, 0, {1, 0}}));
  see(2, 0, Opcode::rc_read_response_first);
  see_read(3, 2, 0x1800, 2048);
  EXPECT_EQ(find(3), (MessageSpans::Span{0, 4, 1024, {1, 0}}));
  EXPECT_FALSE(find(4));
}

TEST_F(MessageSpansTest, PacketsThatAreSentAgainChangeNothing) {
  for (const std::uint64_t frame : {1U, 11U}) {
    see(frame, 0, Opcode::rc_send_first);
    see(frame + 1, 1, Opcode::rc_send_last);
  }
  EXPECT_EQ(find(1), (MessageSpans::Span{0, 2, 1024, {1, 0}}));
}

}  // namespace
}  // namespace roce::plugin
