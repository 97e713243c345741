// SPDX-License-Identifier: BSD-2-Clause
// Waiting and giving up: RNR timers, ACK timeouts, and the two retry counters.
#include <gmock/gmock.h>

#include <array>

#include "roce/wire/reth.h"
#include "sim/endpoint.h"
#include "sim/matchers.h"
#include "sim/profiles.h"

namespace roce::sim {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using transport::CompletionStatus;
using transport::QpState;
using transport::WorkOpcode;

class RetryScenario : public ScenarioTest {
 protected:
  static Pair::Options options() {
    Pair::Options options = Pair::with(profile());
    options.link.delay = 1us;
    return options;
  }

  /// Returns the frames that A sent, in order.
  static std::vector<TraceFrame> from_a(const Pair& pair) {
    std::vector<TraceFrame> frames;
    for (const TraceFrame& frame : pair.network.trace()) {
      if (frame.from == pair.a_host.node()) frames.push_back(frame);
    }
    return frames;
  }
};

TEST_P(RetryScenario, WaitsAtLeastAsLongAsEachRnrTimerCodeSays) {
  // In microseconds, by timer code (IBTA vol. 1, table 45).
  constexpr std::array<int, 32> waits{655360, 10,    20,    30,    40,    60,     80,     120,    160,    240,   320,
                                      480,    640,   960,   1280,  1920,  2560,   3840,   5120,   7680,   10240, 15360,
                                      20480,  30720, 40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520};
  for (std::uint8_t code = 0; code < 32; ++code) {
    SCOPED_TRACE(testing::Message() << "timer code " << int{code});
    Pair::Options options = RetryScenario::options();
    options.connection.min_rnr_timer = code;
    Pair pair{options};
    pair.network.keep_trace(Tap::sent);
    const std::uint64_t id = pair.a.post({.length = 10});
    pair.network.after(3us, [&] { pair.b.post_receive(0, 10); });
    ASSERT_TRUE(pair.network.run_until_idle());
    EXPECT_THAT(pair.a.sent(), ElementsAre(Succeeded(id)));
    const std::vector<TraceFrame>& trace = pair.network.trace();
    ASSERT_EQ(trace.size(), 4U) << pair.network.trace_text();
    EXPECT_THAT(trace[1], HasSyndrome(AethSyndrome::rnr_nak(code)));
    const Duration waited = trace[2].time - (trace[1].time + options.link.delay);
    EXPECT_GE(waited, std::chrono::microseconds{waits[code]});
    EXPECT_LE(waited, std::max<Duration>(std::chrono::microseconds{waits[code]}, profile().min_rnr_wait) + 1ms);
  }
}

TEST_P(RetryScenario, SendsOnceMoreThanTheRetryCountAndThenGivesUp) {
  for (std::uint8_t count = 0; count <= 7; ++count) {
    if (count == 7 && profile().retry_count_7_is_infinite) continue;
    SCOPED_TRACE(testing::Message() << "retry count " << int{count});
    Pair::Options options = RetryScenario::options();
    options.connection.retry_count = count;
    options.connection.timeout = 8;
    options.link.impair = "drop:dir=a_to_b";
    Pair pair{options};
    pair.network.keep_trace(Tap::sent);
    const std::uint64_t first = pair.a.post({.opcode = WorkOpcode::write, .length = 10});
    const std::uint64_t second = pair.a.post({.opcode = WorkOpcode::read, .length = 10, .signaled = false});
    pair.a.post_receive(0, 10, 55);
    ASSERT_TRUE(pair.network.run_until_idle());
    EXPECT_THAT(pair.a.sent(),
                ElementsAre(Ended(first, CompletionStatus::retry_exceeded), Ended(second, CompletionStatus::flushed)));
    EXPECT_THAT(pair.a.received(), ElementsAre(Ended(55, CompletionStatus::flushed)));
    EXPECT_EQ(pair.a.state(), QpState::err);
    EXPECT_EQ(from_a(pair).size(), 2U * (count + 1U)) << pair.network.trace_text();
    constexpr auto timeout = Duration{4096} * (1 << 8);
    EXPECT_GE(pair.network.now().time_since_epoch(), timeout * (count + 1));
    EXPECT_EQ(pair.a.counters().timeouts, count + 1U);
    EXPECT_EQ(pair.a.counters().retries_exceeded, 1U);
  }
}

TEST_P(RetryScenario, TriesSevenTimesOrForEver) {
  Pair::Options options = RetryScenario::options();
  options.connection.retry_count = 7;
  options.connection.timeout = 8;
  options.link.impair = "drop:dir=a_to_b,count=30";
  Pair pair{options};
  pair.a.post({.opcode = WorkOpcode::write, .length = 10});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(),
              ElementsAre(Ended(1, profile().retry_count_7_is_infinite ? CompletionStatus::success
                                                                       : CompletionStatus::retry_exceeded)));
}

TEST_P(RetryScenario, ARepeatedNakInsideAMessageIsNoProgress) {
  Pair::Options options = RetryScenario::options();
  options.link.impair = "drop:dir=a_to_b,op=write,psn=5,tx=1; duplicate:dir=b_to_a,op=nak,copies=3";
  Pair pair{options};
  const std::uint64_t id = pair.a.post({.opcode = WorkOpcode::write, .length = 40 * options.connection.mtu});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), ElementsAre(Succeeded(id)));
  EXPECT_EQ(pair.a.counters().sequence_naks_received, 1U) << pair.network.trace_text();
}

TEST_P(RetryScenario, ProgressFillsTheRetryCounterAgain) {
  Pair::Options options = RetryScenario::options();
  options.connection.retry_count = 1;
  options.connection.timeout = 8;
  options.link.impair = "drop:dir=a_to_b,op=RC_WRITE_ONLY,tx=1";
  Pair pair{options};
  for (int i = 0; i < 5; ++i) {
    const std::uint64_t id = pair.a.post({.opcode = WorkOpcode::write, .length = 10});
    ASSERT_TRUE(pair.network.run_until_idle());
    EXPECT_THAT(pair.a.sent().back(), Succeeded(id));
  }
}

TEST_P(RetryScenario, WithoutATimeoutNothingIsSentAgain) {
  Pair::Options options = RetryScenario::options();
  options.connection.timeout = 0;
  options.link.impair = "drop:dir=a_to_b,count=1";
  Pair pair{options};
  pair.network.keep_trace(Tap::sent);
  pair.a.post({.opcode = WorkOpcode::write, .length = 10});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_EQ(pair.network.trace().size(), 1U);
  EXPECT_THAT(pair.a.sent(), IsEmpty());
}

TEST_P(RetryScenario, GivesUpAfterTheRnrRetries) {
  for (std::uint8_t count = 0; count <= 6; ++count) {
    SCOPED_TRACE(testing::Message() << "RNR retry count " << int{count});
    Pair::Options options = RetryScenario::options();
    options.connection.rnr_retry = count;
    options.connection.min_rnr_timer = 1;
    Pair pair{options};
    pair.network.keep_trace(Tap::sent);
    const std::uint64_t id = pair.a.post({.length = 10});
    const std::uint64_t next = pair.a.post({.opcode = WorkOpcode::write, .length = 10, .fence = true});
    ASSERT_TRUE(pair.network.run_until_idle());
    EXPECT_THAT(pair.a.sent(),
                ElementsAre(Ended(id, CompletionStatus::rnr_retry_exceeded), Ended(next, CompletionStatus::flushed)));
    EXPECT_EQ(pair.a.counters().rnr_retries_exceeded, 1U);
    const auto frames = from_a(pair);
    EXPECT_EQ(
        std::ranges::count_if(
            frames, [](const TraceFrame& frame) { return testing::Value(frame, IsOpcode(Opcode::rc_send_only)); }),
        count + 1);
    EXPECT_EQ(pair.b.state(), QpState::rts);
  }
}

TEST_P(RetryScenario, SevenRnrRetriesAreWithoutEnd) {
  Pair::Options options = RetryScenario::options();
  options.connection.rnr_retry = 7;
  options.connection.min_rnr_timer = 1;
  Pair pair{options};
  const std::uint64_t id = pair.a.post({.length = 10});
  pair.network.after(2s, [&] { pair.b.post_receive(0, 10); });
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), ElementsAre(Succeeded(id)));
  EXPECT_GT(pair.a.counters().rnr_naks_received, 30U);
}

TEST_P(RetryScenario, KeepsItsRnrWaitWhenASequenceNakFollows) {
  Pair::Options options = RetryScenario::options();
  options.connection.min_rnr_timer = 20;  // 10.24 ms
  Pair pair{options};
  pair.network.keep_trace(Tap::sent);
  for (int i = 0; i < 4; ++i) pair.a.post({.length = 10});
  pair.network.after(100us, [&] {
    for (int i = 0; i < 4; ++i) pair.b.post_receive(0, 10);
  });
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_EQ(pair.a.sent().size(), 4U);
  const std::vector<TraceFrame> frames = from_a(pair);
  ASSERT_EQ(frames.size(), 8U) << pair.network.trace_text();
  EXPECT_GE(frames[4].time - frames[3].time, 10240us);
  const AethSyndrome sequence_error = AethSyndrome::nak(NakCode::psn_sequence_error);
  EXPECT_EQ(std::ranges::count_if(
                pair.network.trace(),
                [&](const TraceFrame& frame) { return testing::Value(frame, HasSyndrome(sequence_error)); }),
            profile().nak_behind_rnr ? 1 : 0);
}

TEST_P(RetryScenario, AsksForTheMissingTailOfAReadOnly) {
  Pair::Options options = RetryScenario::options();
  options.connection.mtu = 256;
  options.link.impair = "drop:dir=b_to_a,op=read_response,psn=3,tx=1";
  Pair pair{options};
  pair.network.keep_trace(Tap::sent);
  const std::uint64_t id = pair.a.post({.opcode = WorkOpcode::read, .length = 10 * 256});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), ElementsAre(Succeeded(id)));
  const std::vector<TraceFrame> frames = from_a(pair);
  ASSERT_EQ(frames.size(), 2U) << pair.network.trace_text();
  const Packet again = parse_frame(frames[1].bytes, LinkType::ethernet);
  EXPECT_EQ(again.bth().psn, options.connection.a_psn + 3);
  const Reth reth = again.get<Reth>().value();
  EXPECT_EQ(reth.virtual_address, pair.b.address(3 * 256));
  EXPECT_EQ(reth.dma_length, 7U * 256);
  EXPECT_TRUE(std::ranges::equal(pair.a.memory(0, 2560), pair.b.memory(0, 2560)));
}

TEST_P(RetryScenario, ResendsOnlyWhatWasNotAcknowledgedOfAMessage) {
  Pair::Options options = RetryScenario::options();
  options.connection.mtu = 256;
  options.link.impair = "drop:dir=a_to_b,op=write,psn=5,tx=1";
  Pair pair{options};
  pair.network.keep_trace(Tap::sent);
  const std::uint64_t id = pair.a.post({.opcode = WorkOpcode::write, .length = 8 * 256});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), ElementsAre(Succeeded(id)));
  const std::vector<TraceFrame> frames = from_a(pair);
  ASSERT_EQ(frames.size(), 11U) << pair.network.trace_text();
  const std::uint32_t first = options.connection.a_psn.value();
  EXPECT_THAT(frames[8], IsBth(Opcode::rc_write_middle, first + 5));
  EXPECT_THAT(frames[10], IsBth(Opcode::rc_write_last, first + 7));
  EXPECT_EQ(pair.a.counters().retransmitted_packets, 3U);
}

ROCE_UNDER_EACH_PROFILE(RetryScenario);

}  // namespace
}  // namespace roce::sim
