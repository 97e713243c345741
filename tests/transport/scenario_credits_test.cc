// SPDX-License-Identifier: BSD-2-Clause
// End-to-end credits: a responder grants them, and a requester keeps within them and never stalls (IBTA vol. 1,
// 9.7.7.2).
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <optional>

#include "sim/endpoint.h"
#include "sim/matchers.h"
#include "sim/profiles.h"

namespace roce::sim {
namespace {

using namespace std::chrono_literals;
using testing::SizeIs;
using transport::WorkOpcode;

constexpr Duration kDelay = 20us;

/// The requester uses the profile of the test, the responder one that grants credits.
class CreditScenario : public ScenarioTest {
 protected:
  static Pair::Options options() {
    Pair::Options options = Pair::with(profile());
    options.b_host = Host::Options{.profile = transport::strict_profile()};
    options.link.delay = kDelay;
    options.connection.min_rnr_timer = 14;  // 1.28 ms
    return options;
  }

  /// Sends one message from whose answer `a` learns its credits; it does not consume a receive.
  static void learn(Pair& pair) {
    pair.a.post({.opcode = WorkOpcode::write, .length = 8});
    ASSERT_TRUE(pair.network.run_until_idle());
  }

  static std::size_t count(const Pair& pair, Opcode opcode) {
    return static_cast<std::size_t>(std::ranges::count_if(
        pair.network.trace(), [&](const TraceFrame& frame) { return testing::Value(frame, IsOpcode(opcode)); }));
  }
};

/// Reads from the frames handed to the link which message each of `a`'s packets begins and the credits that `a` has by
/// then. Returns how many messages were one beyond the limit (the probe); those further beyond are failures.
std::size_t probes_in(const Pair& pair) {
  std::optional<Msn> limit;
  std::optional<Psn> highest;
  std::multimap<Time, Aeth> under_way;
  Msn ssn{0};
  std::size_t probes = 0;
  for (const TraceFrame& frame : pair.network.trace()) {
    for (auto next = under_way.begin(); next != under_way.end() && next->first <= frame.time;) {
      const std::optional<std::uint16_t> credits = next->second.syndrome.credits();
      limit = credits ? std::optional{next->second.msn + *credits} : std::nullopt;
      next = under_way.erase(next);
    }
    const Packet packet = parse_frame(frame.bytes, LinkType::ethernet);
    if (frame.from == pair.b_host.node()) {
      const auto aeth = packet.get<Aeth>();
      if (aeth && aeth->syndrome.kind() == AethKind::ack) under_way.emplace(frame.time + kDelay, *aeth);
      continue;
    }
    if (highest && !packet.bth().psn.newer_than(*highest)) continue;
    highest = packet.bth().psn;
    const Position position = packet.info().position;
    if (position != Position::first && position != Position::only) continue;
    ++ssn;
    const bool takes_receive = packet.info().operation == Operation::send || packet.info().immediate;
    if (!takes_receive || !limit || !ssn.newer_than(*limit)) continue;
    EXPECT_EQ(ssn, *limit + 1) << "at " << frame.time.time_since_epoch().count() << " ns\n"
                               << pair.network.trace_text();
    ++probes;
  }
  return probes;
}

TEST_P(CreditScenario, AreGrantedForTheReceivesOfTheOwnQueue) {
  constexpr std::uint8_t kNone = 31;
  // The number granted may be less than the number posted, but never more (IBTA vol. 1, table 47).
  const std::map<int, std::uint8_t> codes{{0, 0}, {1, 1}, {4, 4}, {5, 4}, {6, 5}, {7, 5}, {8, 6}, {23, 8}, {24, 9}};
  for (const bool with_srq : {false, true}) {
    for (const auto& [receives, code] : codes) {
      SCOPED_TRACE(testing::Message() << receives << " receives" << (with_srq ? " in an SRQ" : ""));
      Pair::Options options = Pair::with(profile());
      options.a_endpoint.with_srq = with_srq;
      Pair pair{options};
      for (int i = 0; i < receives; ++i) pair.b.post_receive(0, 64);
      pair.network.keep_trace(Tap::sent);
      pair.a.post({.opcode = WorkOpcode::write, .length = 8});
      pair.a.post({.opcode = WorkOpcode::read, .length = 8});
      ASSERT_TRUE(pair.network.run_until_idle());
      const AethSyndrome expected{profile().send_credits && !with_srq ? code : kNone};
      std::size_t answers = 0;
      for (const TraceFrame& frame : pair.network.trace()) {
        if (frame.from != pair.b_host.node()) continue;
        ++answers;
        EXPECT_THAT(frame, HasSyndrome(expected));
      }
      EXPECT_GE(answers, 1U);
    }
  }
}

TEST_P(CreditScenario, AreKeptToButForOneProbe) {
  Pair pair{options()};
  for (int i = 0; i < 4; ++i) pair.b.post_receive(0, 64);
  learn(pair);
  pair.network.keep_trace(Tap::sent);
  for (int i = 0; i < 10; ++i) pair.a.post({.length = 8});
  // The first answer has not arrived by then.
  ASSERT_TRUE(pair.network.run_for(kDelay));
  EXPECT_EQ(count(pair, Opcode::rc_send_only), profile().honour_credits ? 5U : 10U) << pair.network.trace_text();
  pair.network.after(100us, [&] {
    for (int i = 0; i < 6; ++i) pair.b.post_receive(0, 64);
  });
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), SizeIs(11));
  EXPECT_THAT(pair.b.received(), SizeIs(10));
  EXPECT_EQ(pair.a.state(), transport::QpState::rts);
}

TEST_P(CreditScenario, DoNotHoldBackWhatTakesNoReceive) {
  Pair pair{options()};
  learn(pair);
  pair.network.keep_trace(Tap::sent);
  for (int i = 0; i < 5; ++i) pair.a.post({.opcode = WorkOpcode::write, .length = 8});
  for (int i = 0; i < 5; ++i) pair.a.post({.opcode = WorkOpcode::read, .length = 8});
  ASSERT_TRUE(pair.network.run_for(kDelay));
  EXPECT_EQ(count(pair, Opcode::rc_write_only), 5U);
  EXPECT_EQ(count(pair, Opcode::rc_read_request), 5U);
}

TEST_P(CreditScenario, AWriteBeforeTheMessageBeyondTheLimitBringsItsAnswer) {
  for (const std::uint32_t between_ack_requests : {1U, 16U}) {
    for (int writes = 0; writes < 4; ++writes) {
      SCOPED_TRACE(testing::Message() << writes << " writes, AckReq every " << between_ack_requests);
      Pair::Options options = CreditScenario::options();
      options.a_host.profile.messages_per_ack_request = between_ack_requests;
      Pair pair{options};
      pair.b.post_receive(0, 64);
      learn(pair);
      pair.network.keep_trace(Tap::sent);
      pair.a.post({.length = 8});
      for (int i = 0; i < writes; ++i) pair.a.post({.opcode = WorkOpcode::write, .length = 8});
      const std::uint64_t behind = pair.a.post({.length = 8});
      // Takes the AckReq away from the message before it if AckReq is only set when nothing else is posted.
      pair.a.post({.opcode = WorkOpcode::write, .length = 8});
      pair.network.after(3ms, [&] { pair.b.post_receive(0, 64); });
      ASSERT_TRUE(pair.network.run_until_idle());
      EXPECT_THAT(pair.a.sent(), testing::Contains(Succeeded(behind)));
      EXPECT_THAT(pair.a.sent(), SizeIs(static_cast<std::size_t>(writes) + 4));
      EXPECT_EQ(pair.a.counters().timeouts, 0U) << pair.network.trace_text();
    }
  }
}

TEST_P(CreditScenario, NoProgramStallsHoweverLateItsReceives) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random{seed};
    Pair::Options options = CreditScenario::options();
    options.seed = seed;
    options.a_host.profile.messages_per_ack_request = random.one_in(2) ? 1 : 8;
    Pair pair{options};
    for (std::uint64_t i = random.below(4); i > 0; --i) pair.b.post_receive(0, 4096);
    pair.network.keep_trace(Tap::sent);
    learn(pair);
    std::vector<std::uint64_t> posted{1};
    std::uint64_t receives = 0;
    for (int i = 0; i < 40; ++i) {
      const bool write = random.one_in(3);
      const bool immediate = random.one_in(4);
      const WorkOpcode opcode = write       ? immediate ? WorkOpcode::write_with_immediate : WorkOpcode::write
                                : immediate ? WorkOpcode::send_with_immediate
                                            : WorkOpcode::send;
      posted.push_back(
          pair.a.post({.opcode = opcode, .length = random.one_in(3) ? 3000U : 8U, .fence = random.one_in(8)}));
      if (opcode != WorkOpcode::write) ++receives;
    }
    // The receives posted at the start are extra.
    for (std::uint64_t i = 0; i < receives; ++i) {
      pair.network.after(std::chrono::microseconds{random.below(20'000)}, [&] { pair.b.post_receive(0, 4096); });
    }
    ASSERT_TRUE(pair.network.run_until_idle());
    std::vector<std::uint64_t> completed;
    for (const transport::Completion& completion : pair.a.sent()) {
      EXPECT_EQ(completion.status, transport::CompletionStatus::success);
      completed.push_back(completion.wr_id);
    }
    EXPECT_EQ(completed, posted);
    EXPECT_THAT(pair.b.received(), SizeIs(receives));
    EXPECT_EQ(pair.a.counters().timeouts, 0U) << "a message waited for an answer that nothing asked for";
    if (profile().honour_credits) probes_in(pair);
  }
}

ROCE_UNDER_EACH_PROFILE(CreditScenario);

}  // namespace
}  // namespace roce::sim
