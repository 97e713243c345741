// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/join/capture_match.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "analyze/join/join_model.h"

namespace roce::analyze::test {
namespace {

constexpr std::int64_t kMilli = 1'000'000;
constexpr std::int64_t kWithin = 1000 * kMilli;
constexpr std::int64_t kAhead = 3600 * 1000 * kMilli;  // how far B's clock is ahead of A's
constexpr std::int64_t kDelay = 10'000;

/// Two captures of one flow, made packet by packet. As with RNICs the IP identification is not used: a packet that is
/// sent again has the same bits.
class CaptureMatchTest : public ::testing::Test {
 protected:
  CaptureMatchTest() {
    const auto address = [](std::uint8_t last) { return Gid::from_ipv4(Ipv4Address{{192, 0, 2, last}}); };
    flow_ = flows_.number(address(1), address(2), Qpn{17});
    // Packets around those that a test is about: they determine the clock offset.
    for (std::uint32_t i = 0; i < 100; ++i) {
      sent(100 + i, (1 + i) * kMilli);
      arrived(100 + i, (1 + i) * kMilli + kDelay);
    }
  }

  static SeenPacket packet(std::uint32_t flow, std::uint32_t psn, std::int64_t time) {
    SeenPacket seen;
    seen.time_ns = time;
    seen.flow = flow;
    seen.psn = psn;
    seen.icrc = psn * 2'654'435'761U;
    seen.has_icrc = true;
    seen.payload_length = 1024;
    seen.opcode = 0x0A;
    seen.hop_limit = 64;
    return seen;
  }
  void sent(std::uint32_t psn, std::int64_t time) { a_.packets.push_back(packet(flow_, psn, time)); }
  void arrived(std::uint32_t psn, std::int64_t time) { b_.packets.push_back(packet(flow_, psn, time + kAhead)); }
  [[nodiscard]] CaptureMatch match() const { return match_captures(a_.packets, b_.packets, flows_, kWithin); }
  /// Joins the captures; they last a second, and the packets of the constructor are in its first tenth.
  [[nodiscard]] WaySummary join(std::optional<std::int64_t> offset = kAhead, Way way = Way::a_to_b) {
    a_.first_ns = 0;
    a_.last_ns = 1000 * kMilli;
    b_.first_ns = kAhead;
    b_.last_ns = kAhead + 1000 * kMilli;
    JoinOptions options;
    options.offset_ns = offset;
    return join_captures(a_, b_, flows_, options).way(way);
  }

  FlowTable flows_;
  std::uint32_t flow_ = 0;
  JoinSide a_;
  JoinSide b_;
};

TEST_F(CaptureMatchTest, ALostPacketDoesNotShiftItsRetransmissions) {
  const std::size_t first = a_.packets.size();
  sent(7, 200 * kMilli);
  sent(7, 204 * kMilli);
  sent(7, 212 * kMilli);
  arrived(7, 204 * kMilli + kDelay);
  arrived(7, 212 * kMilli + kDelay);
  const CaptureMatch found = match();
  EXPECT_EQ(found.a[first].kind, MatchKind::none);
  EXPECT_EQ(found.a[first + 1].other, 100U);
  EXPECT_EQ(found.a[first + 2].other, 101U);
  const WaySummary way = join();
  EXPECT_EQ(way.count(Fate::lost), 1U);
  EXPECT_EQ(way.matched, 102U);
  EXPECT_EQ(way.delay.max(), Duration{kDelay});
}

TEST_F(CaptureMatchTest, AsManyAtBothPointsMayStillBeALossAndACopy) {
  sent(7, 200 * kMilli);
  sent(7, 204 * kMilli);
  arrived(7, 204 * kMilli + kDelay);
  arrived(7, 204 * kMilli + kDelay + 2000);
  const WaySummary way = join();
  EXPECT_EQ(way.count(Fate::lost), 1U);
  EXPECT_EQ(way.count(Fate::duplicated), 1U);
  EXPECT_EQ(way.delay.max(), Duration{kDelay});
}

TEST_F(CaptureMatchTest, TheFirstOfTheCopiesIsTheOriginal) {
  // The original came sooner than usual, so that the delay of its copy is nearer to the usual one.
  const std::size_t first = b_.packets.size();
  sent(7, 200 * kMilli);
  arrived(7, 200 * kMilli + kDelay - 3000);
  arrived(7, 200 * kMilli + kDelay);
  const CaptureMatch found = match();
  EXPECT_EQ(found.a.back().other, first);
  EXPECT_EQ(found.b[first].other, a_.packets.size() - 1);
  EXPECT_EQ(found.b[first + 1].kind, MatchKind::copy);
  EXPECT_EQ(found.b[first + 1].other, first);
}

TEST_F(CaptureMatchTest, OfSeveralCopiesTheFirstIsTheOriginal) {
  // The delay of the last one is the usual one.
  const std::size_t first = b_.packets.size();
  sent(7, 200 * kMilli);
  arrived(7, 200 * kMilli + kDelay - 900);
  arrived(7, 200 * kMilli + kDelay - 300);
  arrived(7, 200 * kMilli + kDelay);
  const CaptureMatch found = match();
  ASSERT_EQ(found.a.back().kind, MatchKind::same);
  EXPECT_EQ(found.a.back().other, first);
  EXPECT_EQ(found.b[first].kind, MatchKind::same);
  for (const std::size_t copy : {first + 1, first + 2}) {
    EXPECT_EQ(found.b[copy].kind, MatchKind::copy);
    EXPECT_EQ(found.b[copy].other, first);
  }
}

TEST_F(CaptureMatchTest, WhatOnlyBHasLongAfterIsNoCopyButWasMissedAtA) {
  sent(7, 200 * kMilli);
  arrived(7, 200 * kMilli + kDelay);
  arrived(7, 204 * kMilli + kDelay);
  const WaySummary way = join();
  EXPECT_EQ(way.count(Fate::missed), 1U);
  EXPECT_EQ(way.count(Fate::duplicated), 0U);
}

TEST_F(CaptureMatchTest, CopiesOfMostPacketsAreThoseOfACaptureAndTellNoOrder) {
  const std::size_t count = b_.packets.size();
  for (std::size_t i = 10; i < count; ++i) {
    b_.packets.push_back(b_.packets[i]);
    b_.packets.back().time_ns += 1000;
  }
  const WaySummary way = join(std::nullopt, Way::unknown);
  EXPECT_EQ(way.matched, 100U);
  EXPECT_EQ(way.count(Fate::only_b), 90U);
}

TEST_F(CaptureMatchTest, ManyEqualPacketsMatchInOrder) {
  // CNPs are all the same. One in ten is lost.
  for (std::uint32_t i = 0; i < 200; ++i) {
    sent(7, (200 + i) * kMilli);
    if (i % 10 != 3) arrived(7, (200 + i) * kMilli + kDelay);
  }
  const WaySummary way = join();
  EXPECT_EQ(way.count(Fate::lost), 20U);
  EXPECT_EQ(way.matched, 280U);
  EXPECT_EQ(way.delay.max(), Duration{kDelay});
}

class CnpMatchTest : public CaptureMatchTest {
 protected:
  CnpMatchTest() {
    // Packets of which each is known: some of them are held back on their way.
    for (std::uint32_t i = 0; i < 20; ++i) {
      sent(300 + i, (150 + i) * kMilli);
      arrived(300 + i, (150 + i) * kMilli + kDelay + (i % 2) * kHeld);
    }
  }
  static constexpr std::int64_t kHeld = 2 * kMilli;
  static constexpr std::int64_t kSpacing = kMilli / 10;

  static void make_cnp(SeenPacket& packet) {
    packet.opcode = 0x81;
    packet.psn = packet.icrc = 0;
  }
  void cnp_sent(std::int64_t time) {
    sent(0, time);
    make_cnp(a_.packets.back());
  }
  void cnp_arrived(std::int64_t time) {
    arrived(0, time);
    make_cnp(b_.packets.back());
  }
};

TEST_F(CnpMatchTest, AsManyCnpsAtBothPointsAreTheSame) {
  for (std::uint32_t i = 0; i < 20; ++i) {
    cnp_sent(200 * kMilli + i * kSpacing);
    cnp_arrived(200 * kMilli + i * kSpacing + kDelay + (i % 4 == 0 ? kHeld : 0));
  }
  const WaySummary way = join();
  EXPECT_EQ(way.matched, 140U);
  EXPECT_EQ(way.died(), 0U);
  EXPECT_EQ(way.count(Fate::duplicated), 0U);
  EXPECT_EQ(way.count(Fate::missed), 0U);
  EXPECT_EQ(way.delay.count(), 120U) << "it is unknown which CNP is which";
}

TEST_F(CnpMatchTest, OneCnpFewerIsOneLost) {
  for (std::uint32_t i = 0; i < 20; ++i) {
    cnp_sent(200 * kMilli + i * kSpacing);
    if (i != 7) cnp_arrived(200 * kMilli + i * kSpacing + kDelay + (i % 4 == 0 ? kHeld : 0));
  }
  const WaySummary way = join();
  EXPECT_EQ(way.count(Fate::lost), 1U);
  EXPECT_EQ(way.count(Fate::duplicated), 0U);
  EXPECT_EQ(way.count(Fate::missed), 0U);
}

TEST_F(CnpMatchTest, ACnpThatCameMuchLaterIsAnother) {
  cnp_sent(200 * kMilli);
  cnp_sent(220 * kMilli);
  cnp_arrived(220 * kMilli + kDelay);
  cnp_arrived(240 * kMilli + kDelay);
  const WaySummary way = join();
  EXPECT_EQ(way.count(Fate::lost), 1U);
  EXPECT_EQ(way.count(Fate::missed), 1U);
}

TEST_F(CaptureMatchTest, ADamagedPacketIsFoundWhicheverFieldWasHit) {
  const auto damage = [&](auto change) {
    sent(7, 200 * kMilli);
    arrived(7, 200 * kMilli + kDelay);
    change(b_.packets.back());
    b_.packets.back().is_bad = true;
    const CaptureMatch found = match();
    const bool is_found = found.a.back().kind == MatchKind::damaged && found.a.back().other == b_.packets.size() - 1;
    a_.packets.pop_back();
    b_.packets.pop_back();
    return is_found;
  };
  EXPECT_TRUE(damage([](SeenPacket&) {})) << "payload";
  EXPECT_TRUE(damage([](SeenPacket& packet) { packet.psn ^= 0x10; }));
  EXPECT_TRUE(damage([](SeenPacket& packet) { packet.icrc ^= 0x10; }));
  EXPECT_TRUE(damage([](SeenPacket& packet) { packet.opcode ^= 0x10; }));
  EXPECT_TRUE(damage([&](SeenPacket& packet) {
    const SeenFlow flow = flows_.flows()[flow_];
    packet.flow = flows_.number(flow.source, flow.destination, Qpn{19});
  }));
  EXPECT_FALSE(damage([](SeenPacket& packet) { packet.psn = packet.icrc = 99; })) << "nothing of it is left";
}

TEST_F(CaptureMatchTest, TwoOriginalsThatAreAsNearAreNoneOfThem) {
  sent(7, 200 * kMilli);
  sent(7, 200 * kMilli + 2 * kDelay);
  arrived(7, 200 * kMilli + 2 * kDelay);
  b_.packets.back().is_bad = true;
  b_.packets.back().psn ^= 0x10;
  EXPECT_EQ(match().b.back().kind, MatchKind::none);
  const WaySummary way = join();
  EXPECT_EQ(way.count(Fate::orphaned), 1U);
  EXPECT_EQ(way.count(Fate::lost), 2U);
}

TEST_F(CaptureMatchTest, WhatIsOutsideTheOtherCaptureIsNotJudged) {
  sent(7, 200 * kMilli);
  sent(8, 1500 * kMilli);
  a_.packets.insert(a_.packets.begin(), packet(flow_, 6, -500 * kMilli));
  const WaySummary way = join();
  EXPECT_EQ(way.count(Fate::lost), 1U);
  EXPECT_EQ(way.not_judged_first, 2U);
}

TEST_F(CnpMatchTest, WhatMayHaveBeenUnderWayWhenACaptureEndedIsNotJudged) {
  const std::int64_t end = 300 * kMilli;
  sent(7, end - kDelay - kHeld - 1);
  sent(8, end - kDelay - kHeld + 1);
  sent(9, end - kDelay + 1);
  a_.last_ns = end;
  b_.first_ns = kAhead;
  b_.last_ns = kAhead + end;
  const WaySummary way = join_captures(a_, b_, flows_, JoinOptions{.offset_ns = kAhead}).way(Way::a_to_b);
  EXPECT_EQ(way.count(Fate::lost), 1U);
  EXPECT_EQ(way.not_judged_first, 2U);
}

TEST_F(CnpMatchTest, WhatMayHaveComeByBeforeACaptureBeganIsNotJudged) {
  arrived(7, kDelay + kHeld - 1);
  arrived(8, kDelay + kHeld + 1);
  a_.last_ns = 300 * kMilli;
  b_.first_ns = kAhead;
  b_.last_ns = kAhead + 300 * kMilli;
  const WaySummary way = join_captures(a_, b_, flows_, JoinOptions{.offset_ns = kAhead}).way(Way::a_to_b);
  EXPECT_EQ(way.count(Fate::missed), 1U);
  EXPECT_EQ(way.not_judged_second, 1U);
}

TEST_F(CaptureMatchTest, InOneFileAPointThatSeesNothingMoreIsStillRunning) {
  // Behind a black hole: the file ends with what the first point sees.
  for (std::uint32_t i = 0; i < 480; ++i) sent(1000 + i, (200 + i) * kMilli);
  for (SeenPacket& packet : b_.packets) packet.time_ns -= kAhead;
  a_.last_ns = 679 * kMilli;
  b_.last_ns = 100 * kMilli + kDelay;
  const WaySummary way = join_captures(a_, b_, flows_, JoinOptions{.offset_ns = 0, .same_file = true}).way(Way::a_to_b);
  EXPECT_EQ(way.count(Fate::lost), 479U);
  EXPECT_EQ(way.not_judged_first, 1U) << "the last one was under way";
}

TEST_F(CaptureMatchTest, ReorderedIsWhatCameBehindItsSuccessors) {
  sent(7, 200 * kMilli);
  sent(8, 200 * kMilli + 1);
  sent(9, 200 * kMilli + 2);
  arrived(8, 201 * kMilli);
  arrived(9, 202 * kMilli);
  arrived(7, 203 * kMilli);
  EXPECT_EQ(join().count(Fate::reordered), 1U);
}

TEST_F(CaptureMatchTest, ChangesOnTheWayAreCounted) {
  b_.packets[0].traffic_class = 0x03;
  b_.packets[1].traffic_class = 0x68;
  b_.packets[2].priority = 3;
  b_.packets[3].domain = 9;
  for (SeenPacket& packet : b_.packets) packet.hop_limit = 62;
  b_.packets[4].hop_limit = 61;
  const WaySummary way = join();
  EXPECT_EQ(way.matched, 100U);
  EXPECT_EQ(way.count(Fate::ce_marked), 1U);
  EXPECT_EQ(way.dscp_changed, 1U);
  EXPECT_EQ(way.priority_changed, 1U);
  EXPECT_EQ(way.vlan_changed, 1U);
  EXPECT_EQ(way.least_hops, 2);
  EXPECT_EQ(way.most_hops, 3);
}

TEST_F(CaptureMatchTest, WithoutIcrcsTheRestTells) {
  sent(7, 200 * kMilli);
  sent(7, 204 * kMilli);
  arrived(7, 204 * kMilli + kDelay);
  for (SeenPacket& packet : b_.packets) packet.has_icrc = false;
  EXPECT_FALSE(match().by_icrc);
  const WaySummary way = join();
  EXPECT_EQ(way.matched, 101U);
  EXPECT_EQ(way.count(Fate::lost), 1U);
}

}  // namespace
}  // namespace roce::analyze::test
