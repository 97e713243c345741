// SPDX-License-Identifier: BSD-2-Clause
// Responses to READs and atomics behind a gap, which a requester holds (LossRecovery::held_responses).
#include <gmock/gmock.h>

#include "roce/transport/loss_recovery_text.h"
#include "transport/lossy_pair.h"

namespace roce::sim {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using transport::LossRecovery;
using transport::WorkOpcode;

class HeldResponses : public LossyPair {
 protected:
  /// Makes two endpoints of which A recovers so, over a link with these faults.
  void make(const LossRecovery& recovery, std::string_view faults, const Connection& connection = {}) {
    LossyPair::make(profile_with(recovery), profile(), faults, connection);
    fill(pair_->b);
  }

  /// Posts a READ of so many packets, at this place of the memory of both.
  std::uint64_t read(std::uint32_t packets, std::uint64_t first = 0) {
    return pair_->a.post({.opcode = WorkOpcode::read,
                          .length = packets * kPacketBytes,
                          .local = first * kPacketBytes,
                          .remote = first * kPacketBytes});
  }

  /// Expects that so many requests have succeeded in their order, and that so many packets were read.
  void finish(std::size_t requests, std::uint32_t packets) {
    const Time begin = pair_->network.now();
    const auto are_done = [&] { return pair_->a.sent().size() == requests; };
    ASSERT_TRUE(pair_->network.run_until(are_done, "the completions")) << pair_->network.trace_text();
    took_ = pair_->network.now() - begin;
    std::uint64_t id = 0;
    for (const transport::Completion& one : pair_->a.sent()) {
      EXPECT_EQ(one.status, transport::CompletionStatus::success) << pair_->network.trace_text();
      EXPECT_GE(one.wr_id, id);
      id = one.wr_id;
    }
    EXPECT_TRUE(memories_are_equal(packets));
  }

  /// Returns the distances of the requests of A from its first PSN, in the order in which they were sent.
  std::vector<int> requests() {
    std::vector<int> found;
    for (const TraceFrame& frame : pair_->network.trace()) {
      if (frame.from != pair_->a_host.node()) continue;
      found.push_back(parse_frame(frame.bytes, LinkType::ethernet).bth().psn.distance_from(Connection{}.a_psn));
    }
    return found;
  }

  Duration took_{};  ///< from the call of `finish` on
};

TEST_P(HeldResponses, CompleteAReadOnceTheMissingOneHasCome) {
  make({.held_responses = 64}, "drop:dir=b_to_a,op=read_response,psn=5,tx=1");
  read(40);
  finish(1, 40);
  EXPECT_THAT(requests(), ElementsAre(0, 5));
  // The request, its response, the request from 5 on, one response; the 34 behind it are there already.
  EXPECT_LT(took_, 4 * kOneWay + 5us);
}

TEST_P(HeldResponses, OfOtherReadsAreNotRequestedAgain) {
  make({.held_responses = 64}, "drop:dir=b_to_a,op=read_response,psn=5,tx=1");
  for (std::uint32_t i = 0; i < 4; ++i) read(10, 10 * i);
  finish(4, 40);
  EXPECT_THAT(requests(), ElementsAre(0, 10, 20, 30, 5));
}

TEST_P(HeldResponses, BehindTwoGapsOfOneReadCostOneRequest) {
  make({.held_responses = 64},
       "drop:dir=b_to_a,op=read_response,psn=5,tx=1; drop:dir=b_to_a,op=read_response,psn=8,tx=1");
  for (std::uint32_t i = 0; i < 2; ++i) read(10, 10 * i);
  finish(2, 20);
  EXPECT_THAT(requests(), ElementsAre(0, 10, 5));
}

TEST_P(HeldResponses, BehindGapsOfTwoReadsCostTwoRequests) {
  make({.held_responses = 64},
       "drop:dir=b_to_a,op=read_response,psn=5,tx=1; drop:dir=b_to_a,op=read_response,psn=18,tx=1");
  for (std::uint32_t i = 0; i < 3; ++i) read(10, 10 * i);
  finish(3, 30);
  EXPECT_THAT(requests(), ElementsAre(0, 10, 20, 5, 18));
}

TEST_P(HeldResponses, AResponseThatIsLostAgainIsRequestedAgainAtOnce) {
  make({.held_responses = 64}, "drop:dir=b_to_a,op=read_response,psn=5,tx=1..3");
  for (std::uint32_t i = 0; i < 2; ++i) read(10, 10 * i);
  finish(2, 20);
  EXPECT_LT(took_, kLongBeforeTheTimeout);
  EXPECT_THAT(requests(), ElementsAre(0, 10, 5, 5, 5));
}

TEST_P(HeldResponses, ALostRequestIsSeenByTheAnswerToALaterOne) {
  make({.held_responses = 64},
       "drop:dir=b_to_a,op=read_response,psn=5,tx=1; drop:dir=a_to_b,op=read_request,psn=5,tx=1");
  for (std::uint32_t i = 0; i < 2; ++i) read(10, 10 * i);
  ASSERT_TRUE(pair_->network.run_until([&] { return requests().size() == 3; }, "the request that is lost"));
  read(10, 20);
  finish(3, 30);
  EXPECT_THAT(requests(), ElementsAre(0, 10, 5, 20, 5));
  EXPECT_LT(took_, kLongBeforeTheTimeout);
}

TEST_P(HeldResponses, WithoutAnythingElseToSendAProbeFindsWhatIsLostAgain) {
  make({.tail_probe = true, .held_responses = 64},
       "drop:dir=b_to_a,op=read_response,psn=9,tx=1; drop:dir=b_to_a,op=read_response,psn=9,tx=2");
  for (std::uint32_t i = 0; i < 2; ++i) read(10, 10 * i);
  finish(2, 20);
  EXPECT_EQ(pair_->a.counters().timeouts, 0U);
  EXPECT_LT(took_, kLongBeforeTheTimeout);
}

TEST_P(HeldResponses, AnAckBehindAGapCompletesItsSendAfterTheRead) {
  make({.held_responses = 64}, "drop:dir=b_to_a,op=read_response,psn=9,tx=1");
  pair_->b.post_receive(100 * kPacketBytes, kPacketBytes);
  read(10);
  pair_->a.post({.length = 10});
  finish(2, 10);
  // The SEND is the request at 10, and only the READ goes again.
  EXPECT_THAT(requests(), ElementsAre(0, 10, 9));
}

TEST_P(HeldResponses, AnAtomicWhoseAnswerIsLostIsExecutedOnce) {
  make({.held_responses = 64}, "drop:dir=b_to_a,op=atomic_ack,count=1");
  std::ranges::fill(pair_->b.memory().first(8), std::byte{0});
  pair_->a.post({.opcode = WorkOpcode::fetch_add, .length = 8, .compare_add = 3});
  read(2, 10);
  finish(2, 0);
  EXPECT_EQ(pair_->b.memory()[0], std::byte{3});
  EXPECT_THAT(requests(), ElementsAre(0, 1, 0));
}

TEST_P(HeldResponses, AGapThatOnlyAnAckShowsIsFilledAtOnce) {
  make({.held_responses = 64}, "drop:dir=b_to_a,op=read_response,psn=5,tx=1; drop:dir=b_to_a,psn=15..19,tx=1");
  pair_->b.post_receive(100 * kPacketBytes, kPacketBytes);
  for (std::uint32_t i = 0; i < 2; ++i) read(10, 10 * i);
  pair_->a.post({.length = 10});
  finish(3, 20);
  EXPECT_THAT(requests(), ElementsAre(0, 10, 20, 5, 15));
  EXPECT_LT(took_, kLongBeforeTheTimeout);
}

TEST_P(HeldResponses, TwoReadsWithoutAnyAnswerAreRequestedOneAfterTheOther) {
  make({.held_responses = 64}, "drop:dir=b_to_a,op=read_response,tx=1");
  pair_->b.post_receive(100 * kPacketBytes, kPacketBytes);
  for (std::uint32_t i = 0; i < 2; ++i) read(1, i);
  pair_->a.post({.length = 10});
  finish(3, 2);
  EXPECT_THAT(requests(), ElementsAre(0, 1, 2, 0, 1));
  EXPECT_LT(took_, kLongBeforeTheTimeout);
}

TEST_P(HeldResponses, AReadThatIsMerelySlowIsRequestedAgainOnceAtMost) {
  make({.tail_probe = true, .held_responses = 64}, "", {.rate_limit_bps = 50'000'000});
  for (std::uint32_t i = 0; i < 3; ++i) {
    pair_->a.post({.opcode = WorkOpcode::read, .length = 8});
    finish(i + 1, 0);
  }
  read(20);
  finish(4, 20);
  EXPECT_LE(requests().size(), 5U);
}

TEST_P(HeldResponses, AReadThatANakAskedForIsRequestedAgainIfItsAnswerIsLost) {
  make({.selective_repeat = true, .held_responses = 64},
       "drop:dir=a_to_b,op=read_request,psn=0,tx=1; drop:dir=b_to_a,op=read_response,psn=0,tx=1");
  for (std::uint32_t i = 0; i < 2; ++i) read(10, 10 * i);
  finish(2, 20);
  EXPECT_LT(took_, kLongBeforeTheTimeout);
}

TEST_P(HeldResponses, ARequestThatNeedNotGoAgainIsNotWaitedFor) {
  // 5 comes behind 6, and before the QP may send again. Its 32 bytes take 0.9 ms, so that the second READ is under way.
  make({.held_responses = 64},
       "delay:dir=a_to_b,by=1ms; reorder:dir=b_to_a,op=read_response,psn=5,tx=1,by=1; "
       "drop:dir=b_to_a,op=read_response,psn=7..9,tx=1");
  pair_->a.modify({.rate_limit_bps = 284'000});
  for (std::uint32_t i = 0; i < 2; ++i) read(10, 10 * i);
  finish(2, 20);
  EXPECT_THAT(requests(), ElementsAre(0, 10, 7));
  EXPECT_LT(took_, kLongBeforeTheTimeout);
}

TEST_P(HeldResponses, OnlyAsManyAreHeldAsTheProfileSays) {
  make({.held_responses = 4}, "drop:dir=b_to_a,op=read_response,psn=5,tx=1");
  for (std::uint32_t i = 0; i < 4; ++i) read(10, 10 * i);
  finish(4, 40);
  // 6 to 9 are held, of the others nothing.
  EXPECT_THAT(requests(), ElementsAre(0, 10, 20, 30, 5, 10, 20, 30));
}

/// Returns two endpoints that recover so, with a MiB of memory, and a link of 40 Gbit/s and a round trip of 10 us.
Pair::Options fast_link(const LossRecovery& recovery, const std::string& faults) {
  transport::Profile both;
  both.recovery = recovery;
  Pair::Options options = Pair::with(both);
  options.link = {.delay = 5us, .rate_bps = 40'000'000'000, .impair = faults};
  options.a_endpoint.memory = 1U << 20U;
  return options;
}

/// Returns the share of that link that READs of 64 KiB have, 16 at a time, where so
/// many packets are lost each way.
double share_of_reads(const LossRecovery& recovery, double loss, std::uint64_t seed) {
  constexpr std::uint32_t bytes = 1U << 16U;
  constexpr Duration length = 20ms;
  Pair pair{fast_link(recovery, "drop:probability=" + std::to_string(loss) + ",seed=" + std::to_string(seed))};
  std::uint64_t posted = 0;
  while (pair.network.now() < Time{length}) {
    for (; posted < pair.a.sent().size() + 16; ++posted) {
      const std::uint64_t place = posted % 16 * bytes;
      pair.a.post({.opcode = WorkOpcode::read, .length = bytes, .local = place, .remote = place});
    }
    const std::size_t before = pair.a.sent().size();
    const auto is_done = [&] { return pair.a.sent().size() != before || pair.network.now() >= Time{length}; };
    if (!pair.network.run_until(is_done, "a completion")) return -1;
  }
  constexpr std::uint32_t mtu = 1024;
  const double packets = static_cast<double>(pair.a.sent().size()) * bytes / mtu;
  return packets * (mtu + 66 + 24) * 8 / 40e9 / std::chrono::duration<double>(length).count();
}

TEST(HeldResponsesOfOneReader, PutTheTimerOff) {
  Pair pair{fast_link(transport::parse_loss_recovery("all").value(), "drop:dir=b_to_a,psn=4,tx=1")};
  // Four short ones tell the round trip; what comes behind the lost packet then takes 230 us, and more than the timer.
  for (std::size_t i = 0; i < 4; ++i) {
    pair.a.post({.opcode = WorkOpcode::read, .length = 8});
    ASSERT_TRUE(pair.network.run_until([&] { return pair.a.sent().size() == i + 1; }, "a completion"));
  }
  for (std::uint64_t i = 0; i < 16; ++i)
    pair.a.post({.opcode = WorkOpcode::read, .length = 1U << 16U, .local = i << 16U, .remote = i << 16U});
  ASSERT_TRUE(pair.network.run_until([&] { return pair.a.sent().size() == 20; }, "the completions"));
  EXPECT_EQ(pair.a.counters().timeouts, 0U);
  EXPECT_EQ(pair.a.counters().retransmitted_packets, 1U);
}

TEST(HeldResponsesOfOneReader, KeepMostOfALinkThatLosesPackets) {
  const LossRecovery all = transport::parse_loss_recovery("all").value();
  EXPECT_GT(share_of_reads(all, 0.001, 1), 0.9);
  EXPECT_GT(share_of_reads(all, 0.01, 1), 0.6);
  EXPECT_GT(share_of_reads(all, 0.05, 1), 0.3);
  EXPECT_LT(share_of_reads({}, 0.01, 1), 0.2);
}

TEST_P(HeldResponses, SurviveHeavyLoss) {
  make({.nak_again_after = 50us,
        .timer_from_first = true,
        .adaptive_timeout = true,
        .tail_probe = true,
        .held_responses = 512},
       "drop:skip=8,probability=0.05,seed=5");
  for (std::size_t round = 1; round <= 20; ++round) {
    for (std::uint32_t i = 0; i < 16; ++i) read(16, 16 * i);
    finish(16 * round, 256);
  }
  // Only the end of a response behind which nothing comes waits for the timeout, if it is lost twice.
  EXPECT_LE(pair_->a.counters().timeouts, 10U);
}

ROCE_UNDER_EACH_PROFILE(HeldResponses);

}  // namespace
}  // namespace roce::sim
