// SPDX-License-Identifier: BSD-2-Clause
// ACKs that are held back (RC-RESP-22): for how long, and what takes them along.
#include <gmock/gmock.h>

#include <vector>

#include "roce/wire/opcode.h"
#include "sim/endpoint.h"
#include "sim/matchers.h"

namespace roce::sim {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using transport::WorkOpcode;

constexpr Duration kLinkDelay = 3us;

/// One frame as it was handed to the link.
struct Sent {
  Opcode opcode;
  Time time;
};

const Duration kAckDelay = transport::hardware_like_profile().ack_coalesce_delay;

class HeldAcks : public testing::Test {
 protected:
  HeldAcks() : pair_(options()) { pair_.network.keep_trace(Tap::sent); }

  static Pair::Options options() {
    Pair::Options options = Pair::with(transport::hardware_like_profile());
    options.link.delay = kLinkDelay;
    options.link.impair = "drop:dir=a_to_b,op=RC_READ_RESPONSE_ONLY,tx=1";
    return options;
  }

  /// Sends a WRITE to B and returns while its ACK is held back.
  void hold_an_ack() {
    pair_.a.post({.opcode = WorkOpcode::write, .length = 2});
    ASSERT_TRUE(pair_.network.run_for(kLinkDelay + 1us));
    ASSERT_THAT(sent_by_b(), IsEmpty());
  }

  /// Returns what B has sent, in its order.
  [[nodiscard]] std::vector<Sent> sent_by_b() const {
    std::vector<Sent> sent;
    for (const TraceFrame& frame : pair_.network.trace()) {
      if (frame.from != pair_.b_host.node()) continue;
      sent.push_back({.opcode = parse_frame(frame.bytes, LinkType::ethernet).bth().opcode, .time = frame.time});
    }
    return sent;
  }

  [[nodiscard]] std::vector<Opcode> opcodes_of_b() const {
    std::vector<Opcode> opcodes;
    for (const Sent& sent : sent_by_b()) opcodes.push_back(sent.opcode);
    return opcodes;
  }

  Pair pair_;
};

TEST_F(HeldAcks, LeavesAfterItsDelayIfNothingTakesItAlong) {
  const Time start = pair_.network.now();
  pair_.a.post({.opcode = WorkOpcode::write, .length = 2});
  ASSERT_TRUE(pair_.network.run_until_idle());
  const std::vector<Sent> sent = sent_by_b();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].opcode, Opcode::rc_acknowledge);
  EXPECT_EQ(sent[0].time - start, kLinkDelay + kAckDelay);
}

TEST_F(HeldAcks, LeavesBehindTheNextRequestOfItsQp) {
  hold_an_ack();
  pair_.b.post({.opcode = WorkOpcode::write, .length = 2});
  ASSERT_TRUE(pair_.network.run_for(1us));
  EXPECT_THAT(opcodes_of_b(), ElementsAre(Opcode::rc_write_only, Opcode::rc_acknowledge));
}

TEST_F(HeldAcks, LeavesBehindTheLastPacketOfALongRequest) {
  hold_an_ack();
  pair_.b.post({.opcode = WorkOpcode::write, .length = 40 * 1024});
  ASSERT_TRUE(pair_.network.run_for(1us));
  const std::vector<Opcode> opcodes = opcodes_of_b();
  ASSERT_EQ(opcodes.size(), 41U);
  EXPECT_EQ(opcodes[39], Opcode::rc_write_last);
  EXPECT_EQ(opcodes[40], Opcode::rc_acknowledge);
}

TEST_F(HeldAcks, LeavesBehindARequestThatWaitsWhenItsTimeHasCome) {
  hold_an_ack();
  pair_.b.device().advance(pair_.network.now() + kAckDelay);
  pair_.b.post({.opcode = WorkOpcode::write, .length = 2});
  ASSERT_TRUE(pair_.network.run_for(1us));
  EXPECT_THAT(opcodes_of_b(), ElementsAre(Opcode::rc_write_only, Opcode::rc_acknowledge));
}

TEST_F(HeldAcks, KeepsTheTurnOfAnswersThatWaitWhenItsTimeHasCome) {
  const std::uint8_t priority = 0;
  ASSERT_TRUE(pair_.b.device().set_paused(priority, true));
  pair_.a.post({.opcode = WorkOpcode::read, .length = 2});
  hold_an_ack();
  pair_.b.device().advance(pair_.network.now() + kAckDelay);
  pair_.b.post({.opcode = WorkOpcode::write, .length = 2});
  ASSERT_TRUE(pair_.b.device().set_paused(priority, false));
  ASSERT_TRUE(pair_.network.run_for(1us));
  EXPECT_THAT(opcodes_of_b(),
              ElementsAre(Opcode::rc_read_response_only, Opcode::rc_acknowledge, Opcode::rc_write_only));
}

TEST_F(HeldAcks, DoesNotWaitForARequestThatMayNotGo) {
  hold_an_ack();
  pair_.b.post({.opcode = WorkOpcode::read, .length = 2});
  pair_.b.post({.opcode = WorkOpcode::read, .length = 2, .fence = true});
  ASSERT_TRUE(pair_.network.run_for(1us));
  pair_.a.post({.opcode = WorkOpcode::write, .length = 2});
  ASSERT_TRUE(pair_.network.run_for(kLinkDelay + kAckDelay));
  EXPECT_THAT(opcodes_of_b(), ElementsAre(Opcode::rc_read_request, Opcode::rc_acknowledge, Opcode::rc_acknowledge));
}

}  // namespace
}  // namespace roce::sim
