// SPDX-License-Identifier: BSD-2-Clause
// Pacing of a QP with a rate limit: on average, when its host is late, when it has nothing to send, and in packets.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <vector>

#include "sim/endpoint.h"
#include "sim/matchers.h"
#include "sim/profiles.h"

namespace roce::sim {
namespace {

using namespace std::chrono_literals;
using transport::QpChange;
using transport::QpState;
using transport::QpType;
using transport::WorkOpcode;

constexpr std::uint32_t kPayload = 1000;
constexpr std::uint32_t kDatagramSize = 12 + 8 + kPayload + 4;  // BTH, DETH, ICRC
constexpr std::uint64_t kRate = 100'000'000;
constexpr Duration kSpacing{kDatagramSize * 8 * 1'000'000'000ULL / kRate};  // 81.92 us
constexpr Duration kStart = 1s;

/// A datagram QP with a rate limit, whose host calls its device at the times that the test chooses.
class PacingScenario : public ScenarioTest {
 protected:
  explicit PacingScenario(const QpChange& limit = {.state = QpState::rts, .rate_limit_bps = kRate})
      : pair_(options()), address_(address_of(pair_.a, pair_.b_host)) {
    // After this, neither path has to be looked up.
    pair_.b.post_receive(0, 4096);
    post(1);
    if (!pair_.network.run_until_idle()) throw std::runtime_error("the first datagram was not sent");
    pair_.a.modify(limit);
  }

  void post(int count) {
    for (int i = 0; i < count; ++i) {
      pair_.a.post({.length = kPayload, .datagram = {.ah = address_, .qpn = pair_.b.qpn(), .q_key = kQKey}});
    }
  }
  /// Lets the device work at `moment`, counted from the start; returns how many packets it sent.
  std::size_t packets_at(Duration moment) {
    const Time time{kStart + moment};
    device().advance(time);
    std::array<std::byte, 8192> buffer{};
    std::array<transport::TxUnit, 4> units{};
    std::size_t packets = 0;
    while (const std::size_t count = device().transmit(buffer, units, {}, time)) {
      for (std::size_t i = 0; i < count; ++i) packets += units[i].segments;
    }
    return packets;
  }
  /// Lets the device work every `step` from `from` to before `to`; returns how many packets it sent in total.
  std::size_t packets_until(Duration from, Duration to, Duration step) {
    std::size_t packets = 0;
    for (Duration moment = from; moment < to; moment += step) packets += packets_at(moment);
    return packets;
  }
  transport::Device& device() { return pair_.a.device(); }
  Pair& pair() { return pair_; }

 private:
  static Pair::Options options() {
    Pair::Options options = Pair::with(profile());
    options.a_endpoint.type = QpType::ud;
    return options;
  }

  Pair pair_;
  transport::Ah address_;
};

TEST_P(PacingScenario, PacketsGoOneByOneAtTheirTime) {
  post(10);
  EXPECT_EQ(packets_at(0us), 1U);
  EXPECT_FALSE(device().has_output());
  EXPECT_EQ(device().next_timeout(), Time{kStart + kSpacing});
  EXPECT_EQ(packets_at(kSpacing - 1ns), 0U);
  EXPECT_EQ(packets_at(kSpacing), 1U);
  EXPECT_EQ(packets_at(2 * kSpacing), 1U);
}

TEST_P(PacingScenario, AHostThatIsAlwaysLateKeepsTheRate) {
  post(200);
  // The device is called every 100 us, which is more than the time between two packets and less than between three.
  constexpr Duration all = 100 * kSpacing;
  const std::size_t sent = packets_until(0us, all, 100us);
  EXPECT_GE(sent, 98U);
  EXPECT_LE(sent, 101U);
}

TEST_P(PacingScenario, WhatWasLateIsMadeUpForAtTwiceTheRate) {
  post(250);
  std::size_t all = packets_at(0us);
  EXPECT_EQ(all, 1U);
  // Packets 2 to 21 are due by then.
  constexpr Duration late = 20 * kSpacing;
  const std::size_t at_once = packets_at(late);
  EXPECT_LE(at_once, 3U) << "no burst";
  const std::size_t soon = packets_until(late + 1us, late + 10 * kSpacing, 1us);
  EXPECT_GE(soon, 18U);
  EXPECT_LE(soon, 21U);
  all += at_once + soon + packets_until(late + 10 * kSpacing, 100 * kSpacing, 1us);
  EXPECT_GE(all, 99U);
  EXPECT_LE(all, 101U);
}

TEST_P(PacingScenario, AQpWithNothingToSendSavesNothingUp) {
  post(1);
  EXPECT_EQ(packets_at(0us), 1U);
  EXPECT_EQ(packets_at(kSpacing), 0U);
  post(10);
  EXPECT_EQ(packets_at(50ms), 1U);
  EXPECT_EQ(packets_at(50ms + kSpacing / 2), 0U);
  EXPECT_EQ(packets_at(50ms + kSpacing), 1U);
}

TEST_P(PacingScenario, ALimitInPacketsCountsPackets) {
  pair().a.modify({.state = QpState::rts, .rate_limit_bps = 0, .rate_limit_pps = 1000});
  post(10);
  EXPECT_EQ(packets_at(0us), 1U);
  EXPECT_EQ(device().next_timeout(), Time{kStart + 1ms});
  EXPECT_EQ(packets_at(1ms), 1U);
  EXPECT_EQ(must(device().query_qp(pair().a.qpn())).rate_limit_pps, 1000U);
  pair().a.modify({.state = QpState::rts, .rate_limit_pps = 0});
  EXPECT_EQ(packets_at(1ms), 8U) << "without a limit again";
}

class PacedConnection : public ScenarioTest {};

TEST_P(PacedConnection, ARateSlowerThanTheTimeoutIsNoLoss) {
  Pair::Options options = Pair::with(profile());
  options.a_host.profile.min_timeout = Duration{0};
  options.connection.timeout = 8;  // 1.05 ms
  // One packet in 0.9 ms, so that only the message takes longer than the timeout; and one in 8.6 ms.
  for (const std::uint64_t rate : {10'000'000U, 1'000'000U}) {
    options.connection.rate_limit_bps = rate;
    Pair pair{options};
    const std::uint64_t id = pair.a.post({.opcode = WorkOpcode::write, .length = 20'000});
    ASSERT_TRUE(pair.network.run_until_idle());
    EXPECT_THAT(pair.a.sent(), testing::ElementsAre(Succeeded(id)));
    EXPECT_EQ(pair.a.counters().timeouts, 0U) << rate;
    EXPECT_EQ(pair.a.counters().retransmitted_packets, 0U) << rate;
  }
}

ROCE_UNDER_EACH_PROFILE(PacingScenario);
ROCE_UNDER_EACH_PROFILE(PacedConnection);

}  // namespace
}  // namespace roce::sim
