// SPDX-License-Identifier: BSD-2-Clause
// Endpoints that do more about losses than the specification asks for (LossRecovery), each part alone.
#include <gmock/gmock.h>

#include "sim/matchers.h"
#include "transport/lossy_pair.h"

namespace roce::sim {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using transport::CompletionStatus;
using transport::LossRecovery;
using transport::WorkOpcode;

class LossRecoveryScenario : public LossyPair {
 protected:
  /// Makes two endpoints that recover so, over a link with these faults.
  void make(const LossRecovery& recovery, std::string_view faults, const Connection& connection = {}) {
    make(profile_with(recovery), profile_with(recovery), faults, connection);
  }
  void make(const transport::Profile& a, const transport::Profile& b, std::string_view faults,
            const Connection& connection = {}) {
    LossyPair::make(a, b, faults, connection);
    fill(pair_->a);
  }

  /// Writes so many packets with one message, and expects that they arrive.
  void write(std::uint32_t packets) {
    finish(pair_->a.post({.opcode = WorkOpcode::write, .length = packets * kPacketBytes}));
    EXPECT_TRUE(memories_are_equal(packets));
  }

  /// Expects that a request succeeds, and lets all else that is under way arrive.
  void finish(std::uint64_t id) {
    const auto is_done = [&] { return !pair_->a.sent().empty() && pair_->a.sent().back().wr_id == id; };
    ASSERT_TRUE(pair_->network.run_until(is_done, "the completion"));
    done_at_ = pair_->network.now();
    EXPECT_THAT(pair_->a.sent().back(), Succeeded(id)) << pair_->network.trace_text();
    ASSERT_TRUE(pair_->network.run_until_idle());
  }

  /// Returns the times of the frames of a host that `is_counted` selects.
  template <typename Select>
  std::vector<Time> times(const Host& of, Select is_counted) {
    std::vector<Time> found;
    for (const TraceFrame& frame : pair_->network.trace()) {
      if (frame.from == of.node() && is_counted(parse_frame(frame.bytes, LinkType::ethernet))) {
        found.push_back(frame.time);
      }
    }
    return found;
  }
  std::vector<Time> naks() {
    return times(pair_->b_host, [](const Packet& packet) {
      const auto aeth = packet.get<Aeth>();
      return aeth && aeth->syndrome.kind() == AethKind::nak;
    });
  }
  /// Returns when A sent a packet with this distance from its first PSN.
  std::vector<Time> sendings_of(std::uint32_t distance) {
    return times(pair_->a_host, [distance](const Packet& packet) {
      return packet.bth().psn.distance_from(Connection{}.a_psn) == static_cast<std::int32_t>(distance);
    });
  }
  [[nodiscard]] std::uint64_t sent_again() { return pair_->a.counters().retransmitted_packets; }

  Time done_at_{};  ///< the last request
};

TEST_P(LossRecoveryScenario, RequestsBehindAGapAreHeldAndAcknowledgedAtOnce) {
  make({.held_requests = 64}, "drop:dir=a_to_b,op=write,psn=5,tx=1");
  write(40);
  EXPECT_THAT(naks(), testing::SizeIs(1));
  // The packets behind the gap are not needed again once the missing one has come.
  EXPECT_EQ(pair_->b.counters().out_of_sequence, 34U);
  const auto acks = times(pair_->b_host, [](const Packet& packet) {
    const auto aeth = packet.get<Aeth>();
    return aeth && aeth->syndrome.kind() == AethKind::ack && packet.bth().psn == Connection{}.a_psn + 39;
  });
  ASSERT_THAT(acks, testing::Not(IsEmpty()));
  EXPECT_LT(acks.front() - sendings_of(5).back(), 2 * kOneWay);
}

TEST_P(LossRecoveryScenario, OnlyAsManyRequestsAreHeldAsTheProfileSays) {
  make({.held_requests = 4}, "drop:dir=a_to_b,op=write,psn=5,tx=1");
  write(40);
  // 6 to 9 are held; 10 and what follows comes again.
  EXPECT_EQ(naks().size(), 1U + 0U) << pair_->network.trace_text();
  EXPECT_GE(sent_again(), 31U);
}

TEST_P(LossRecoveryScenario, TheNextGapIsNakedWhenTheFirstIsFilled) {
  make({.held_requests = 64, .selective_repeat = true},
       "drop:dir=a_to_b,op=write,psn=5,tx=1; drop:dir=a_to_b,op=write,psn=20,tx=1");
  write(40);
  const std::vector<Time> of_gaps = naks();
  ASSERT_EQ(of_gaps.size(), 2U) << pair_->network.trace_text();
  EXPECT_EQ(of_gaps[1] - sendings_of(5).back(), kOneWay);
}

TEST_P(LossRecoveryScenario, SendsHeldBehindAGapTakeTheirReceivesInOrder) {
  make({.held_requests = 64, .selective_repeat = true}, "drop:dir=a_to_b,op=send,psn=1,tx=1");
  for (std::uint64_t i = 0; i < 4; ++i) {
    pair_->b.post_receive(i * kPacketBytes, kPacketBytes, 100 + i);
    pair_->a.post({.length = static_cast<std::uint32_t>(10 + i)});
  }
  ASSERT_TRUE(pair_->network.run_until_idle());
  std::vector<std::pair<std::uint64_t, std::uint32_t>> received;
  for (const transport::Completion& one : pair_->b.received()) received.emplace_back(one.wr_id, one.byte_length);
  const auto acks =
      times(pair_->b_host, [](const Packet& packet) { return packet.bth().psn == Connection{}.a_psn + 3; });
  EXPECT_LE(acks.size(), 2U) << pair_->network.trace_text();
  EXPECT_THAT(received,
              ElementsAre(std::pair{100U, 10U}, std::pair{101U, 11U}, std::pair{102U, 12U}, std::pair{103U, 13U}));
  EXPECT_EQ(pair_->a.counters().timeouts, 0U);
}

TEST_P(LossRecoveryScenario, AHeldRequestWithoutAReceiveGetsAnRnrNak) {
  make({.held_requests = 64, .selective_repeat = true}, "drop:dir=a_to_b,op=send,psn=0,tx=1");
  pair_->b.post_receive(0, kPacketBytes, 100);
  for (int i = 0; i < 2; ++i) pair_->a.post({.length = 10});
  pair_->network.after(200us, [&] { pair_->b.post_receive(0, kPacketBytes, 101); });
  ASSERT_TRUE(pair_->network.run_until_idle());
  EXPECT_EQ(pair_->a.counters().rnr_naks_received, 1U) << pair_->network.trace_text();
  EXPECT_THAT(pair_->b.received(), ElementsAre(Succeeded(100), Succeeded(101)));
}

TEST_P(LossRecoveryScenario, ANakThatBringsNothingIsRepeatedLessAndLessOften) {
  transport::Profile patient = profile();
  patient.recovery.nak_again_after = 100us;
  make(profile(), patient, "drop:dir=a_to_b,op=write,psn=5; drop:dir=b_to_a,op=nak", {.retry_count = 1});
  pair_->a.post({.opcode = WorkOpcode::write, .length = 40 * kPacketBytes});
  bool is_over = false;
  pair_->network.after(60ms, [&] { is_over = true; });
  ASSERT_TRUE(pair_->network.run_until([&] { return is_over; }, "60 ms"));
  const std::vector<Time> all = naks();
  ASSERT_EQ(all.size(), 8U) << pair_->network.trace_text();
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_EQ(all[i] - all[i - 1], 100us * (1 << (i - 1)));
}

TEST_P(LossRecoveryScenario, ARepeatedNakBringsAPacketThatWasLostAgain) {
  make({.nak_again_after = 50us}, "drop:dir=a_to_b,op=write,psn=5,tx=1..2");
  write(40);
  EXPECT_EQ(pair_->a.counters().timeouts, 0U);
  EXPECT_LT(done_at_, Time{} + kLongBeforeTheTimeout);
}

TEST_P(LossRecoveryScenario, ALateNakIsNotSentForAPacketThatWasOnlyOvertaken) {
  make({.held_requests = 64, .nak_delay = 30us}, "delay:dir=a_to_b,op=write,psn=5,by=20us");
  write(40);
  EXPECT_THAT(naks(), IsEmpty()) << pair_->network.trace_text();
  EXPECT_EQ(sent_again(), 0U);

  make({.held_requests = 64, .nak_delay = 30us}, "drop:dir=a_to_b,op=write,psn=5,tx=1");
  write(40);
  ASSERT_THAT(naks(), testing::SizeIs(1));
  EXPECT_EQ(naks()[0] - sendings_of(6)[0], kOneWay + 30us);
}

TEST_P(LossRecoveryScenario, AGapIsNakedAfterSoManyPackets) {
  make({.held_requests = 64, .nak_delay_packets = 3}, "reorder:dir=a_to_b,op=write,psn=5,by=3");
  write(40);
  EXPECT_THAT(naks(), IsEmpty()) << pair_->network.trace_text();

  make({.held_requests = 64, .nak_delay_packets = 3}, "drop:dir=a_to_b,op=write,psn=5,tx=1");
  write(40);
  EXPECT_THAT(naks(), testing::SizeIs(1));
}

TEST_P(LossRecoveryScenario, TheTimerOfAPacketIsNotPutOffByThoseThatFollow) {
  for (const bool from_first : {false, true}) {
    make({.timer_from_first = from_first}, "drop:dir=b_to_a,op=ack,count=20", {.timeout = 6});
    constexpr auto timeout = Duration{4096} * (1 << 6);
    for (int i = 0; i < 10; ++i) {
      pair_->network.after(i * 100us, [&] { pair_->a.post({.opcode = WorkOpcode::write, .length = 10}); });
    }
    ASSERT_TRUE(pair_->network.run_until_idle());
    ASSERT_GE(sendings_of(0).size(), 2U);
    const Duration waited = sendings_of(0)[1] - sendings_of(0)[0];
    EXPECT_GE(waited, timeout);
    EXPECT_EQ(waited < 2 * timeout, from_first);
  }
}

TEST_P(LossRecoveryScenario, TheTimerLearnsTheRoundTripAndDoubles) {
  make({.adaptive_timeout = true}, "drop:dir=a_to_b,op=write,psn=3,tx=1..3");
  for (int i = 0; i < 3; ++i) write(1);
  const Time begin = pair_->network.now();
  write(1);
  EXPECT_EQ(pair_->a.counters().timeouts, 3U);
  // 100, 200 and 400 us.
  EXPECT_GE(done_at_ - begin, 700us);
  EXPECT_LE(done_at_ - begin, 900us);
}

TEST_P(LossRecoveryScenario, RetriesAreCountedAtThePaceOfTheTimeoutThatWasAskedFor) {
  constexpr std::uint8_t exponent = 10;
  constexpr auto timeout = Duration{4096} * (1 << exponent);
  make({.adaptive_timeout = true}, "drop:dir=a_to_b,op=write,psn=3..", {.timeout = exponent, .retry_count = 2});
  for (int i = 0; i < 3; ++i) write(1);
  const Time begin = pair_->network.now();
  const std::uint64_t id = pair_->a.post({.opcode = WorkOpcode::write, .length = 10});
  ASSERT_TRUE(pair_->network.run_until_idle());
  EXPECT_THAT(pair_->a.sent().back(), Ended(id, CompletionStatus::retry_exceeded));
  EXPECT_GE(pair_->network.now() - begin, 3 * timeout);
  EXPECT_LE(pair_->network.now() - begin, 7 * timeout);
}

TEST_P(LossRecoveryScenario, RepeatedNaksDoNotUseUpTheRetriesSooner) {
  // The way there is dead for one packet, and the way back is not.
  make({.nak_again_after = 50us}, "drop:dir=a_to_b,op=write,psn=5,tx=1..8", {.timeout = 12, .retry_count = 1});
  write(40);
  EXPECT_EQ(pair_->a.counters().retries_exceeded, 0U);
}

TEST_P(LossRecoveryScenario, ARoundTripThatGrowsIsLearned) {
  transport::Profile adaptive = profile();
  adaptive.recovery = {.timer_from_first = true, .adaptive_timeout = true};
  Pair::Options options = Pair::with(adaptive);
  // Packets that are sent at once wait up to 2 ms for a link whose round trip was some 30 us.
  options.link.rate_bps = 1'000'000'000;
  options.link.delay = kOneWay;
  pair_.emplace(options);
  for (int i = 0; i < 3; ++i) write(1);
  write(200);
  EXPECT_LE(pair_->a.counters().timeouts, 5U);
}

TEST_P(LossRecoveryScenario, ASlowResponseIsRequestedAgainOnceAtMost) {
  make({.adaptive_timeout = true, .tail_probe = true}, "", {.rate_limit_bps = 50'000'000});
  for (int i = 0; i < 3; ++i) write(1);
  finish(pair_->a.post({.opcode = WorkOpcode::read, .length = 20 * kPacketBytes}));
  EXPECT_LE(sent_again(), 1U) << pair_->network.trace_text();
  EXPECT_EQ(pair_->a.counters().timeouts, 0U);
}

TEST_P(LossRecoveryScenario, AProbeFindsALostTail) {
  make({.tail_probe = true}, "drop:dir=a_to_b,op=write,psn=7,tx=1");
  for (int i = 0; i < 4; ++i) write(1);
  const Time begin = pair_->network.now();
  write(4);
  EXPECT_EQ(pair_->a.counters().timeouts, 0U);
  EXPECT_EQ(sent_again(), 1U);
  EXPECT_LT(done_at_ - begin, 200us);
}

TEST_P(LossRecoveryScenario, AProbeFindsALostAnswerToARead) {
  make({.tail_probe = true}, "drop:dir=b_to_a,op=read_response,psn=5,tx=1");
  for (int i = 0; i < 4; ++i) write(1);
  const Time begin = pair_->network.now();
  finish(pair_->a.post({.opcode = WorkOpcode::read, .length = 2 * kPacketBytes}));
  EXPECT_EQ(pair_->a.counters().timeouts, 0U);
  EXPECT_LT(done_at_ - begin, 200us);
}

TEST_P(LossRecoveryScenario, OnlyTheMissingPacketGoesAgain) {
  make({.held_requests = 64, .selective_repeat = true},
       "drop:dir=a_to_b,op=write,psn=5,tx=1; drop:dir=a_to_b,op=write,psn=65,tx=1");
  write(60);
  // With nothing new to send, the last packet shows what the peer does with it.
  EXPECT_EQ(sent_again(), 2U) << pair_->network.trace_text();
  write(60);
  EXPECT_EQ(sent_again(), 3U) << pair_->network.trace_text();
}

TEST_P(LossRecoveryScenario, APeerThatDropsWhatFollowsAGapIsSentAllAgain) {
  transport::Profile selective = profile();
  selective.recovery.selective_repeat = true;
  make(selective, profile(), "drop:dir=a_to_b,op=write,psn=5,tx=1; drop:dir=a_to_b,op=write,psn=105,tx=1");
  write(60);
  // The missing packet alone, the last one to see what the peer did, and then what it dropped.
  EXPECT_EQ(pair_->a.counters().sequence_naks_received, 2U);
  EXPECT_EQ(sent_again(), 2U + 54U) << pair_->network.trace_text();
  write(60);
  // It is known by now.
  EXPECT_EQ(pair_->a.counters().sequence_naks_received, 3U);
  EXPECT_EQ(sent_again(), 56U + 15U);
  EXPECT_EQ(pair_->a.counters().timeouts, 0U);
}

TEST_P(LossRecoveryScenario, AfterATimeoutTheWindowBeginsSmall) {
  transport::Profile slow = profile();
  slow.window = 40;
  slow.recovery.restart_percent = 10;
  make(slow, slow, "drop:dir=a_to_b,op=write,psn=0..39,tx=1", {.timeout = 8});
  write(60);
  const std::vector<Time> again = times(pair_->a_host, [](const Packet&) { return true; });
  ASSERT_GT(again.size(), 44U);
  // Four of them, then none before an answer has come.
  const auto begin = std::ranges::find_if(again, [&](Time at) { return at - again[0] > 1ms; });
  const auto first = std::ranges::count_if(begin, again.end(), [&](Time at) { return at - *begin < kOneWay; });
  EXPECT_EQ(first, 4);
}

TEST_P(LossRecoveryScenario, NoMoreBytesAreUnderWayThanTheWindowHas) {
  make({.window_bytes = 3 * kPacketBytes}, "");
  write(20);
  const std::vector<Time> sent = times(pair_->a_host, [](const Packet&) { return true; });
  EXPECT_LT(sent[2] - sent[0], kOneWay);
  EXPECT_GE(sent[3] - sent[0], 2 * kOneWay);
}

TEST_P(LossRecoveryScenario, ConnectionsSurviveHeavyLossWithoutATimeoutOfTheirOwn) {
  make({.held_requests = 64,
        .nak_again_after = 50us,
        .timer_from_first = true,
        .adaptive_timeout = true,
        .tail_probe = true,
        .selective_repeat = true},
       "drop:skip=8,probability=0.1,seed=5", {.retry_count = 7});
  for (int i = 0; i < 4; ++i) write(1);
  for (int i = 0; i < 20; ++i) {
    const Time begin = pair_->network.now();
    write(60);
    EXPECT_LT(done_at_ - begin, kLongBeforeTheTimeout);
  }
}

ROCE_UNDER_EACH_PROFILE(LossRecoveryScenario);

TEST(LossRecoveryLimits, ADeviceSaysWhichValueIsTooLarge) {
  SimNetwork network{1};
  const auto refusal = [](const LossRecovery& recovery) {
    transport::DeviceConfig config;
    config.gids = {{.gid = Gid::from_ipv4({{10, 0, 0, 1}})}};
    config.profile.recovery = recovery;
    const auto made = transport::Device::make(config, [] { return 4U; });
    return made ? std::string{} : to_string(made.error());
  };
  EXPECT_EQ(refusal({}), "");
  EXPECT_THAT(refusal({.held_requests = LossRecovery::kMostHeld + 1}), testing::HasSubstr("held_requests"));
  EXPECT_THAT(refusal({.nak_again_after = 2s}), testing::HasSubstr("nak_again_after"));
  EXPECT_THAT(refusal({.nak_delay = Duration{-1}}), testing::HasSubstr("nak_delay"));
  EXPECT_THAT(refusal({.restart_percent = 101}), testing::HasSubstr("restart_percent"));
}

}  // namespace
}  // namespace roce::sim
