// SPDX-License-Identifier: BSD-2-Clause
// The congestion control of a QP: its events, its rate, its window and its bursts.
#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "roce/congestion/choice.h"
#include "sim/endpoint.h"
#include "sim/matchers.h"
#include "sim/profiles.h"

namespace roce::sim {
namespace {

using namespace std::chrono_literals;
using congestion::Loss;
using congestion::Output;
using testing::ElementsAre;
using testing::IsEmpty;
using transport::QpState;
using transport::WorkOpcode;

/// Does what the test says, and notes what it is told.
class Puppet : public congestion::CongestionControl {
 public:
  struct Strings {
    Output output;
    std::vector<congestion::Acknowledged> acknowledged{};
    std::vector<Loss> losses{};
    std::uint64_t sent_bytes = 0;
    int sent_turns = 0;
    int questions = 0;
  };
  explicit Puppet(Strings& strings) : strings_(strings) {}
  void start(const congestion::Path& /*path*/, Time /*now*/) override {}
  void on_cnp(Time /*now*/) override {}
  void on_sent(const congestion::Sent& sent) override {
    strings_.sent_bytes += sent.bytes;
    ++strings_.sent_turns;
  }
  void on_acknowledged(const congestion::Acknowledged& acknowledged) override {
    strings_.acknowledged.push_back(acknowledged);
  }
  void on_loss(Loss loss, Time /*now*/) override { strings_.losses.push_back(loss); }
  [[nodiscard]] Output output(Time /*now*/) override {
    ++strings_.questions;
    return strings_.output;
  }
  [[nodiscard]] congestion::Reading reading(Time /*now*/) override { return {.limited = true}; }

 private:
  Strings& strings_;
};

class ControlScenario : public ScenarioTest {
 protected:
  static Pair::Options options() {
    Pair::Options options = Pair::with(profile());
    options.link.delay = 10us;
    return options;
  }
  static void control(Pair& pair, Puppet::Strings& strings) {
    must(pair.a.device().set_congestion_control(pair.a.qpn(), std::make_unique<Puppet>(strings), pair.network.now()));
  }
  /// Sends one WRITE and returns how long it took.
  static Duration write(Pair& pair, std::uint32_t length) {
    const Time start = pair.network.now();
    const std::uint64_t id = pair.a.post({.opcode = WorkOpcode::write, .length = length});
    EXPECT_TRUE(pair.network.run_until([&] { return !pair.a.sent().empty(); }, "the completion"));
    EXPECT_THAT(pair.a.sent(), ElementsAre(Succeeded(id)));
    pair.a.clear_completions();
    return pair.network.now() - start;
  }
};

TEST_P(ControlScenario, ARateIsKeptAndItsEndTakesEffect) {
  Pair pair{options()};
  Puppet::Strings strings{.output = {.rate_bps = 1'000'000'000}};
  control(pair, strings);
  const Duration limited = write(pair, 125'000);  // 1 ms
  EXPECT_GE(limited, 990us);
  EXPECT_LE(limited, 1200us);
  must(pair.a.device().set_congestion_control(pair.a.qpn(), nullptr, pair.network.now()));
  EXPECT_LT(write(pair, 125'000), 200us);
  EXPECT_EQ(must(pair.a.device().congestion_reading(pair.a.qpn(), pair.network.now())), std::nullopt);
}

TEST_P(ControlScenario, TheLowerOfRateAndRateLimitCounts) {
  for (const auto& [limit, rate] : {std::pair{1'000'000'000U, 4'000'000'000U}, {4'000'000'000U, 1'000'000'000U}}) {
    Pair::Options options = ControlScenario::options();
    options.connection.rate_limit_bps = limit;
    Pair pair{options};
    Puppet::Strings strings{.output = {.rate_bps = rate}};
    control(pair, strings);
    const Duration time = write(pair, 125'000);
    EXPECT_GE(time, 940us);
    EXPECT_LE(time, 1200us);
  }
}

TEST_P(ControlScenario, WithoutALimitTheSameBytesGoAtTheSameTimes) {
  const auto frames = [](std::string_view name) {
    Pair::Options options = ControlScenario::options();
    options.link.rate_bps = 10'000'000'000;
    options.a_host.caps.max_segments = 16;
    options.a_host.caps.max_bytes = 65'000;
    options.a_host.congestion = [name](Qpn /*qp*/) { return make_control(*congestion::parse_choice(name)); };
    Pair pair{options};
    pair.network.keep_trace(Tap::sent);
    write(pair, 200'000);
    pair.a.post({.opcode = WorkOpcode::read, .length = 20'000});
    EXPECT_TRUE(pair.network.run_until_idle());
    return pair.network.trace_text();
  };
  const std::string none = frames("none");
  EXPECT_GT(none.size(), 1000U);
  for (const std::string_view name : {"dcqcn", "dcqcn_mlx5", "rtt"}) EXPECT_EQ(frames(name), none) << name;
}

/// Returns how many packets are in each unit of one WRITE of 64 KiB, with one call of `transmit` after the other.
std::vector<std::uint32_t> units_of(Pair& pair) {
  const transport::TxCaps caps{.max_bytes = 65'000, .max_segments = 64};
  pair.a.post({.opcode = WorkOpcode::write, .length = 65'536});
  std::vector<std::byte> buffer(200'000);
  std::array<transport::TxUnit, 16> units{};
  std::vector<std::uint32_t> segments;
  const std::size_t count = pair.a.device().transmit(buffer, units, caps, pair.network.now());
  for (std::size_t i = 0; i < count; ++i) segments.push_back(units[i].segments);
  return segments;
}

TEST_P(ControlScenario, SuperFramesStayUnlessARateAllowsLess) {
  const auto with = [](const Output& output) {
    Pair pair{options()};
    write(pair, 8);  // the neighbour is known after this
    Puppet::Strings strings{.output = output};
    control(pair, strings);
    return units_of(pair);
  };
  Pair plain{options()};
  write(plain, 8);
  const std::vector<std::uint32_t> usual = units_of(plain);
  EXPECT_GT(*std::ranges::max_element(usual), 10U);
  EXPECT_EQ(with({}), usual);
  EXPECT_THAT(with({.rate_bps = 10'000'000'000}), ElementsAre(1U));
  const std::vector<std::uint32_t> burst = with({.rate_bps = 10'000'000'000, .burst_bytes = 4096});
  std::uint32_t packets = 0;
  for (const std::uint32_t unit : burst) packets += unit;
  EXPECT_EQ(packets, 4U);
}

TEST_P(ControlScenario, AWindowBoundsWhatIsInFlight) {
  Pair pair{options()};
  Puppet::Strings strings{.output = {.window_bytes = 4 * 1024, .hears_acknowledged = true}};
  control(pair, strings);
  pair.network.keep_trace(Tap::sent);
  // Four packets in each round trip of 20 us.
  const Duration time = write(pair, 32 * 1024);
  EXPECT_GE(time, 8 * 20us);
  ASSERT_FALSE(strings.acknowledged.empty());
  std::uint32_t packets = 0;
  for (const congestion::Acknowledged& acknowledged : strings.acknowledged) {
    packets += acknowledged.packets;
    EXPECT_LT(acknowledged.in_flight, 4U);
  }
  EXPECT_GE(packets, 28U) << "the first ACK has nothing before it to count from";
}

TEST_P(ControlScenario, RoundTripsAreMeasuredOnPacketsSentOnce) {
  Pair pair{options()};
  Puppet::Strings strings{.output = {.hears_acknowledged = true, .hears_losses = true}};
  control(pair, strings);
  write(pair, 1000);
  ASSERT_EQ(strings.acknowledged.size(), 1U);
  ASSERT_TRUE(strings.acknowledged[0].rtt);
  // Both ways, and the time for which the peer holds its ACK.
  EXPECT_GE(*strings.acknowledged[0].rtt, 20us);
  EXPECT_LE(*strings.acknowledged[0].rtt, 20us + profile().ack_coalesce_delay);
}

TEST_P(ControlScenario, ALossIsToldAndSpoilsItsSample) {
  Pair::Options options = ControlScenario::options();
  options.link.impair = "drop:dir=a_to_b,psn=0,tx=1";
  Pair pair{options};
  Puppet::Strings strings{.output = {.hears_acknowledged = true, .hears_losses = true}};
  control(pair, strings);
  write(pair, 1000);
  EXPECT_THAT(strings.losses, ElementsAre(Loss::timeout));
  ASSERT_EQ(strings.acknowledged.size(), 1U);
  EXPECT_FALSE(strings.acknowledged[0].rtt) << "nobody knows which of the two was answered";
  write(pair, 1000);
  EXPECT_TRUE(strings.acknowledged.back().rtt);
}

TEST_P(ControlScenario, WhatIsNotAskedForIsNotTold) {
  Pair::Options options = ControlScenario::options();
  options.link.impair = "drop:dir=a_to_b,psn=0,tx=1";
  Pair pair{options};
  Puppet::Strings strings;
  control(pair, strings);
  write(pair, 20'000);
  EXPECT_THAT(strings.acknowledged, IsEmpty());
  EXPECT_THAT(strings.losses, IsEmpty());
  EXPECT_EQ(strings.sent_turns, 0);
  EXPECT_EQ(strings.questions, 1) << "only at the start";
}

TEST_P(ControlScenario, SentBytesAreToldOnceATurn) {
  Pair pair{options()};
  const std::uint64_t before = pair.a.counters().sent_bytes;
  Puppet::Strings strings{.output = {.hears_sent = true}};
  control(pair, strings);
  write(pair, 64'000);
  EXPECT_EQ(strings.sent_bytes, pair.a.counters().sent_bytes - before);
  EXPECT_LT(strings.sent_turns, 20) << "63 packets";
}

TEST_P(ControlScenario, TheDeviceWakesUpForAChangeWhileSomethingWaits) {
  Pair pair{options()};
  write(pair, 8);
  const Time now = pair.network.now();
  Puppet::Strings strings{.output = {.rate_bps = 10'000'000, .next_change = now + 100us}};
  control(pair, strings);
  pair.a.post({.opcode = WorkOpcode::write, .length = 4096});
  std::vector<std::byte> buffer(20'000);
  std::array<transport::TxUnit, 4> units{};
  ASSERT_EQ(pair.a.device().transmit(buffer, units, {}, now), 1U);
  EXPECT_EQ(pair.a.device().next_timeout(), now + 100us) << "the next packet goes 0.8 ms later";
  const int questions = strings.questions;
  strings.output.next_change = kNever;
  pair.a.device().advance(now + 100us);
  EXPECT_EQ(pair.a.device().transmit(buffer, units, {}, now + 100us), 0U);
  EXPECT_EQ(strings.questions, questions + 1);
  EXPECT_GT(pair.a.device().next_timeout(), now + 800us);
}

TEST_P(ControlScenario, AnIdleQpUnderDcqcnHasNoTimer) {
  Pair::Options options = ControlScenario::options();
  options.a_host.profile.mark_ect = options.a_host.profile.send_cnps = true;
  options.link.impair = "mark_ce:dir=a_to_b";
  options.a_host.congestion = [](Qpn /*qp*/) { return congestion::make_dcqcn({}); };
  Pair pair{options};
  write(pair, 20'000);
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_TRUE(must(pair.a.device().congestion_reading(pair.a.qpn(), pair.network.now()))->limited);
  EXPECT_EQ(pair.a.device().next_timeout(), kNever);
}

TEST_P(ControlScenario, ItNeedsAQpThatMaySendAndEndsWithReset) {
  Pair pair{options()};
  Puppet::Strings strings;
  const auto set = [&](Qpn qp) {
    return pair.a.device().set_congestion_control(qp, std::make_unique<Puppet>(strings), pair.network.now());
  };
  const Endpoint fresh{pair.a_host};
  const auto early = set(fresh.qpn());
  ASSERT_FALSE(early);
  EXPECT_EQ(to_string(early.error()).find("state"), 0U) << to_string(early.error());
  EXPECT_FALSE(set(Qpn{0xFFFFFE}));
  EXPECT_FALSE(pair.a.device().congestion_reading(Qpn{0xFFFFFE}, pair.network.now()));
  EXPECT_TRUE(set(pair.a.qpn()));
  ASSERT_EQ(pair.a.device().congestion_readings(pair.network.now()).size(), 1U);
  EXPECT_EQ(pair.a.device().congestion_readings(pair.network.now())[0].first, pair.a.qpn());
  pair.a.modify({.state = QpState::reset});
  EXPECT_THAT(pair.a.device().congestion_readings(pair.network.now()), IsEmpty());
}

ROCE_UNDER_EACH_PROFILE(ControlScenario);

}  // namespace
}  // namespace roce::sim
