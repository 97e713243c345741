// SPDX-License-Identifier: BSD-2-Clause
#include "roce/port/dcbx_peer.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "roce/wire/ethernet.h"
#include "roce/wire/packet.h"

namespace roce::port {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr MacAddress kLow{{2, 0, 0, 0, 0, 1}};
constexpr MacAddress kHigh{{2, 0, 0, 0, 0, 2}};
constexpr MacAddress kThird{{2, 0, 0, 0, 0, 3}};

/// PFC for the priorities whose bits are set.
[[nodiscard]] DcbxPfc pfc(unsigned priorities, bool willing = false) {
  DcbxPfc result{.willing = willing, .capability = 8};
  for (unsigned i = 0; i < 8; ++i) result.set(i, (priorities >> i & 1U) != 0);
  return result;
}

[[nodiscard]] unsigned enabled(const DcbxPfc& pfc) {
  return pfc.priorities();
}

/// Priority 3 in class 1 with its share of the link, the others in class 0.
[[nodiscard]] DcbxEts ets(std::uint8_t percent, bool willing = false) {
  return {.willing = willing,
          .prio3_tc = 1,
          .tc0_bandwidth = static_cast<std::uint8_t>(100 - percent),
          .tc1_bandwidth = percent,
          .tc0_tsa = DcbxTsa::ets,
          .tc1_tsa = DcbxTsa::ets};
}
[[nodiscard]] DcbxEtsRecommendation advice(std::uint8_t percent) {
  return recommendation_of(ets(percent));
}

/// Lets one end hear what others send until nobody has anything more to say at `now`.
void talk(std::vector<DcbxPeer*> ends, Time now) {
  for (bool moved = true; moved;) {
    moved = false;
    for (DcbxPeer* from : ends) {
      if (!from->update(now)) continue;
      moved = true;
      const std::vector<std::byte> frame{from->frame().begin(), from->frame().end()};
      for (DcbxPeer* to : ends) {
        if (to == from) continue;
        EXPECT_TRUE(to->receive(frame, now));
      }
    }
  }
}

constexpr Time kStart{1h};

/// Which end takes the other one's PFC, by who is willing, and who has the lower address.
struct Willing {
  bool a = false;
  bool b = false;
  bool a_is_lower = true;
  unsigned at_a = 0;
  unsigned at_b = 0;
};

class PfcOfTwoEnds : public testing::TestWithParam<Willing> {};

TEST_P(PfcOfTwoEnds, IsThatOfTheUnwillingOrHigherOne) {
  const Willing& param = GetParam();
  DcbxPeer a{{.pfc = pfc(0x08, param.a)}, param.a_is_lower ? kLow : kHigh, "eth0"};
  DcbxPeer b{{.pfc = pfc(0x10, param.b)}, param.a_is_lower ? kHigh : kLow, "eth1"};
  talk({&a, &b}, kStart);
  EXPECT_TRUE(a.has_peer() && b.has_peer());
  EXPECT_EQ(enabled(a.operational().pfc), param.at_a);
  EXPECT_EQ(enabled(b.operational().pfc), param.at_b);
  EXPECT_EQ(a.operational().pfc_is_of_peer, param.at_a != 0x08);
  // The other properties of an end stay its own.
  EXPECT_EQ(a.operational().pfc.willing, param.a);
  EXPECT_EQ(a.problem().empty(), param.a || param.b);
}

// NOLINTNEXTLINE(cert-err58-cpp)
INSTANTIATE_TEST_SUITE_P(
    All, PfcOfTwoEnds,
    testing::Values(Willing{false, false, true, 0x08, 0x10}, Willing{false, false, false, 0x08, 0x10},
                    Willing{true, false, true, 0x10, 0x10}, Willing{true, false, false, 0x10, 0x10},
                    Willing{false, true, true, 0x08, 0x08}, Willing{false, true, false, 0x08, 0x08},
                    Willing{true, true, true, 0x10, 0x10}, Willing{true, true, false, 0x08, 0x08}));

TEST(DcbxPeerTest, SharesAreTakenByWhoIsWillingAndWereRecommended) {
  for (const bool a_is_willing : {false, true}) {
    for (const bool b_is_willing : {false, true}) {
      DcbxPeer a{{.ets = ets(30, a_is_willing), .recommendation = advice(40)}, kLow, "eth0"};
      DcbxPeer b{{.ets = ets(50, b_is_willing), .recommendation = advice(60)}, kHigh, "eth1"};
      talk({&a, &b}, kStart);
      // Each by itself: both may be willing.
      EXPECT_EQ(a.operational().ets.bandwidth(1), a_is_willing ? 60 : 30);
      EXPECT_EQ(b.operational().ets.bandwidth(1), b_is_willing ? 40 : 50);
      EXPECT_EQ(a.operational().ets_is_recommended, a_is_willing);
      EXPECT_EQ(a.operational().ets.traffic_class(3), 1);
      EXPECT_EQ(a.operational().ets.willing, a_is_willing);
    }
  }
}

TEST(DcbxPeerTest, WithoutARecommendationSharesStay) {
  DcbxPeer a{{.ets = ets(30, true)}, kLow, "eth0"};
  DcbxPeer b{{.ets = ets(50)}, kHigh, "eth1"};
  talk({&a, &b}, kStart);
  EXPECT_EQ(a.operational().ets.bandwidth(1), 30);
}

TEST(DcbxPeerTest, WhatAPeerSaidEndsWithItsTime) {
  DcbxPeer a{{.pfc = pfc(0x08, true)}, kLow, "eth0"};
  DcbxPeer b{{.pfc = pfc(0x10)}, kHigh, "eth1"};
  talk({&a, &b}, kStart);
  ASSERT_EQ(enabled(a.operational().pfc), 0x10U);
  while (a.next_timeout() < kStart + DcbxPeer::kTimeToLive) (void)a.update(a.next_timeout());
  EXPECT_EQ(enabled(a.operational().pfc), 0x10U);
  (void)a.update(kStart + DcbxPeer::kTimeToLive);
  EXPECT_EQ(enabled(a.operational().pfc), 0x08U);
  EXPECT_FALSE(a.has_peer());
}

TEST(DcbxPeerTest, WhatAPeerSaidEndsWithItsGoodbye) {
  DcbxPeer a{{.pfc = pfc(0x08, true)}, kLow, "eth0"};
  DcbxPeer b{{.pfc = pfc(0x10)}, kHigh, "eth1"};
  talk({&a, &b}, kStart);
  EXPECT_TRUE(a.receive(b.goodbye(), kStart + 1s));
  EXPECT_EQ(enabled(a.operational().pfc), 0x08U);
  EXPECT_FALSE(a.has_peer());
}

TEST(DcbxPeerTest, AChangeIsHeardAtOnce) {
  DcbxPeer a{{.pfc = pfc(0x08, true)}, kLow, "eth0"};
  DcbxPeer b{{.pfc = pfc(0x10)}, kHigh, "eth1"};
  Time now = kStart;
  for (; now < kStart + 40s; now += 1s) talk({&a, &b}, now);
  DcbxConfig changed = b.config();
  changed.pfc = pfc(0x20);
  b.set_config(changed, now);
  talk({&a, &b}, now);
  EXPECT_EQ(enabled(a.operational().pfc), 0x20U);
}

TEST(DcbxPeerTest, SendsFourFramesInSecondsAndThenOneEachHalfMinute) {
  DcbxPeer a{{}, kLow, "eth0"};
  std::vector<Duration> sent;
  for (Time now = kStart; now < kStart + 100s; now = std::max(a.next_timeout(), now)) {
    while (a.update(now)) sent.push_back(now - kStart);
  }
  EXPECT_THAT(sent, testing::ElementsAre(0s, 1s, 2s, 3s, 33s, 63s, 93s));
}

TEST(DcbxPeerTest, ManyChangesAreNotManyFrames) {
  DcbxPeer a{{}, kLow, "eth0"};
  int sent = 0;
  for (int i = 0; i < 100; ++i) {
    const Time now = kStart + i * 100ms;
    a.set_config({.pfc = pfc(static_cast<unsigned>(i))}, now);
    while (a.update(now)) ++sent;
  }
  // Five at once, and then one a second.
  EXPECT_GE(sent, 13);
  EXPECT_LE(sent, 15);
}

TEST(DcbxPeerTest, TwoPeersAreNone) {
  DcbxPeer a{{.pfc = pfc(0x08, true)}, kLow, "eth0"};
  DcbxPeer b{{.pfc = pfc(0x10)}, kHigh, "eth1"};
  DcbxPeer c{{.pfc = pfc(0x20)}, kThird, "eth2"};
  talk({&a, &b, &c}, kStart);
  EXPECT_FALSE(a.has_peer());
  EXPECT_EQ(enabled(a.operational().pfc), 0x08U);
  EXPECT_THAT(a.problem(), HasSubstr("2 others speak DCBX"));
  (void)a.receive(c.goodbye(), kStart + 1s);
  EXPECT_EQ(enabled(a.operational().pfc), 0x10U);
  EXPECT_THAT(a.problem(), IsEmpty());
}

TEST(DcbxPeerTest, KeepsItsOwnIfThePeerPausesMoreThanItCan) {
  DcbxConfig config{.pfc = pfc(0x08, true)};
  config.pfc.capability = 2;
  DcbxPeer a{config, kLow, "eth0"};
  DcbxPeer b{{.pfc = pfc(0x70)}, kHigh, "eth1"};
  talk({&a, &b}, kStart);
  EXPECT_EQ(enabled(a.operational().pfc), 0x08U);
  EXPECT_THAT(a.problem(), HasSubstr("pauses 3 priorities, and this one can only 2"));
}

TEST(DcbxPeerTest, KeepsItsOwnIfRecommendedSharesAreImpossible) {
  DcbxEtsRecommendation wrong = advice(60);
  wrong.tc0_bandwidth = 30;
  DcbxEtsRecommendation shaped = advice(60);
  shaped.tc1_tsa = DcbxTsa::credit_based;
  DcbxEtsRecommendation beyond = advice(60);
  beyond.prio7_tc = 9;
  for (const auto& [recommendation, why] :
       {std::pair{wrong, "expected shares that add up to 100, found 90"}, std::pair{shaped, "or ETS (2), found 1"},
        std::pair{beyond, "expected at most 7, found 9"}}) {
    DcbxPeer a{{.ets = ets(30, true)}, kLow, "eth0"};
    DcbxPeer b{{.recommendation = recommendation}, kHigh, "eth1"};
    talk({&a, &b}, kStart);
    EXPECT_EQ(a.operational().ets.bandwidth(1), 30);
    EXPECT_THAT(a.problem(), HasSubstr(why));
  }
}

TEST(DcbxPeerTest, TellsApplicationsToTheOtherEnd) {
  const std::vector<DcbxAppEntry> applications{{.priority = 3, .selector = DcbxSelector::udp_port, .protocol = 4791},
                                               {.priority = 4, .selector = DcbxSelector::dscp, .protocol = 26}};
  DcbxPeer a{{}, kLow, "eth0"};
  DcbxPeer b{{.applications = applications}, kHigh, "eth1"};
  talk({&a, &b}, kStart);
  EXPECT_EQ(a.operational().peer_applications, applications);
}

TEST(DcbxPeerTest, TheMostApplicationsFit) {
  DcbxPeer a{{}, kLow, "eth0"};
  DcbxConfig config{.ets = ets(50), .recommendation = advice(50), .pfc = pfc(1)};
  config.applications.resize(2 * DcbxPeer::kMaxApplications, {.priority = 3, .selector = DcbxSelector::dscp});
  DcbxPeer b{config, kHigh, std::string(300, 'x')};
  talk({&a, &b}, kStart);
  EXPECT_EQ(a.operational().peer_applications.size(), DcbxPeer::kMaxApplications);
}

/// The frame of an end, as it may be sent by one that is not like this one.
[[nodiscard]] std::vector<std::byte> frame_of(DcbxPeer& peer) {
  EXPECT_TRUE(peer.update(kStart));
  return {peer.frame().begin(), peer.frame().end()};
}

/// The offset of an organisation-specific TLV with `subtype` in a frame.
[[nodiscard]] std::size_t tlv_of(const std::vector<std::byte>& frame, std::uint8_t subtype) {
  LldpWalker walker{Bytes{frame}.subspan(kSize<Ethernet>)};
  for (LldpItem item; walker.next(item);) {
    if (item.header.type == LldpType::organization && read<LldpOrg>(item.value.data()).subtype == subtype) {
      return kSize<Ethernet> + item.offset;
    }
  }
  ADD_FAILURE() << "no TLV with subtype " << unsigned{subtype};
  return 0;
}

TEST(DcbxPeerTest, TwoTlvsOfOneKindDoNotHold) {
  DcbxPeer a{{.pfc = pfc(0x08, true)}, kLow, "eth0"};
  DcbxPeer b{{.pfc = pfc(0x10)}, kHigh, "eth1"};
  std::vector<std::byte> frame = frame_of(b);
  const auto tlv = frame.begin() + static_cast<std::ptrdiff_t>(tlv_of(frame, 11));
  const std::vector<std::byte> copy(tlv, tlv + 8);
  frame.insert(tlv, copy.begin(), copy.end());
  EXPECT_TRUE(a.receive(frame, kStart));
  EXPECT_EQ(enabled(a.operational().pfc), 0x08U);
  EXPECT_THAT(a.problem(), HasSubstr("2 PFC TLVs"));
}

TEST(DcbxPeerTest, ATlvOfTheWrongLengthDoesNotHold) {
  DcbxPeer a{{.ets = ets(30, true), .pfc = pfc(0x08, true)}, kLow, "eth0"};
  DcbxPeer b{{.recommendation = advice(60), .pfc = pfc(0x10)}, kHigh, "eth1"};
  std::vector<std::byte> frame = frame_of(b);
  const std::size_t tlv = tlv_of(frame, 11);
  frame[tlv + 1] = std::byte{5};
  frame.erase(frame.begin() + static_cast<std::ptrdiff_t>(tlv) + 7);
  EXPECT_TRUE(a.receive(frame, kStart));
  EXPECT_EQ(enabled(a.operational().pfc), 0x08U);
  EXPECT_EQ(a.operational().ets.bandwidth(1), 60) << "the others hold";
  EXPECT_THAT(a.problem(), HasSubstr("(DCBX PFC configuration) of the wrong length"));
}

TEST(DcbxPeerTest, OldDcbxIsNamed) {
  DcbxPeer a{{.pfc = pfc(0x08, true)}, kLow, "eth0"};
  DcbxPeer b{{}, kHigh, "eth1"};
  std::vector<std::byte> frame = frame_of(b);
  for (const std::uint8_t subtype : std::array<std::uint8_t, 2>{9, 11}) {
    const std::size_t oui = tlv_of(frame, subtype) + 2;
    frame[oui] = std::byte{0x00};
    frame[oui + 1] = std::byte{0x1B};
    frame[oui + 2] = std::byte{0x21};
  }
  EXPECT_TRUE(a.receive(frame, kStart));
  EXPECT_FALSE(a.has_peer());
  EXPECT_THAT(a.problem(), HasSubstr("CEE"));
}

TEST(DcbxPeerTest, IgnoresWhatIsNoLldpdu) {
  DcbxPeer a{{.pfc = pfc(0x08, true)}, kLow, "eth0"};
  DcbxPeer b{{.pfc = pfc(0x10)}, kHigh, "eth1"};
  const std::vector<std::byte> good = frame_of(b);
  std::vector<std::size_t> boundaries;
  LldpWalker walker{Bytes{good}.subspan(kSize<Ethernet>)};
  for (LldpItem item; walker.next(item);) boundaries.push_back(kSize<Ethernet> + item.offset);
  for (std::size_t size = 0; size < boundaries.back(); ++size) {
    // Without an End TLV a frame may end behind any TLV.
    if (std::ranges::find(boundaries, size) != boundaries.end()) continue;
    DcbxPeer fresh{{.pfc = pfc(0x08, true)}, kLow, "eth0"};
    (void)fresh.receive(Bytes{good}.first(size), kStart);
    EXPECT_FALSE(fresh.has_peer()) << size;
  }
  std::vector<std::byte> other = good;
  other[5] = std::byte{0x01};  // to the group of PAUSE
  EXPECT_FALSE(a.receive(other, kStart));
  other = good;
  other[13] = std::byte{0x00};  // of another EtherType
  EXPECT_FALSE(a.receive(other, kStart));
  DcbxPeer same{{.pfc = pfc(0x10)}, kLow, "eth1"};
  EXPECT_TRUE(a.receive(frame_of(same), kStart)) << "its own frame, which came back";
  EXPECT_FALSE(a.has_peer());
  EXPECT_TRUE(a.receive(good, kStart));
  EXPECT_TRUE(a.has_peer());
}

TEST(DcbxPeerTest, TheEndTlvMayBeMissing) {
  DcbxPeer a{{.pfc = pfc(0x08, true)}, kLow, "eth0"};
  DcbxPeer b{{.pfc = pfc(0x10)}, kHigh, "eth1"};
  std::vector<std::byte> frame = frame_of(b);
  frame.resize(frame.size() - 2);
  EXPECT_TRUE(a.receive(frame, kStart));
  EXPECT_EQ(enabled(a.operational().pfc), 0x10U);
}

TEST(DcbxPeerTest, IgnoresAnLldpduWithASecondMandatoryTlvOrAnImpossibleId) {
  DcbxPeer b{{.pfc = pfc(0x10)}, kHigh, "eth1"};
  const std::vector<std::byte> good = frame_of(b);
  const auto chassis = good.begin() + kSize<Ethernet>;
  for (const std::size_t copied : {9U, 7U, 4U}) {
    std::vector<std::byte> frame = good;
    const std::size_t from = copied == 9U ? 0 : copied == 7U ? 9 : 16;
    frame.insert(frame.begin() + static_cast<std::ptrdiff_t>(tlv_of(frame, 9)),
                 chassis + static_cast<std::ptrdiff_t>(from), chassis + static_cast<std::ptrdiff_t>(from + copied));
    DcbxPeer a{{.pfc = pfc(0x08, true)}, kLow, "eth0"};
    EXPECT_TRUE(a.receive(frame, kStart));
    EXPECT_FALSE(a.has_peer()) << copied;
  }
  // A chassis ID of a subtype alone.
  std::vector<std::byte> frame = good;
  frame[kSize<Ethernet> + 1] = std::byte{1};
  frame.erase(frame.begin() + kSize<Ethernet> + 3, frame.begin() + kSize<Ethernet> + 9);
  DcbxPeer a{{.pfc = pfc(0x08, true)}, kLow, "eth0"};
  EXPECT_TRUE(a.receive(frame, kStart));
  EXPECT_FALSE(a.has_peer());
}

/// A frame of an end that speaks LLDP and no DCBX.
[[nodiscard]] std::vector<std::byte> plain_frame_of(std::uint8_t number) {
  DcbxPeer end{{}, MacAddress{{2, 0, 0, 0, 1, number}}, "eth1"};
  std::vector<std::byte> frame = frame_of(end);
  frame.resize(tlv_of(frame, 9));
  return frame;
}

TEST(DcbxPeerTest, ThoseWithoutDcbxTakeNoPlaceFromThePeer) {
  DcbxPeer a{{.pfc = pfc(0x08, true)}, kLow, "eth0"};
  DcbxPeer b{{.pfc = pfc(0x10)}, kHigh, "eth1"};
  EXPECT_TRUE(a.receive(frame_of(b), kStart));
  for (std::uint8_t i = 0; i < 100; ++i) EXPECT_TRUE(a.receive(plain_frame_of(i), kStart + 1s));
  EXPECT_TRUE(a.has_peer());
  EXPECT_EQ(enabled(a.operational().pfc), 0x10U);
}

TEST(DcbxPeerTest, AnswersAPeerThatHasStartedAgain) {
  DcbxPeer a{{.pfc = pfc(0x08)}, kLow, "eth0"};
  DcbxPeer b{{.pfc = pfc(0x10, true)}, kHigh, "eth1"};
  Time now = kStart;
  for (; now < kStart + 40s; now += 1s) talk({&a, &b}, now);
  ASSERT_EQ(enabled(b.operational().pfc), 0x08U);
  DcbxPeer again{{.pfc = pfc(0x10, true)}, kHigh, "eth1"};
  talk({&a, &again}, now);
  EXPECT_EQ(enabled(again.operational().pfc), 0x08U) << "at once, and not when the other end's half minute is over";
}

TEST(DcbxPeerTest, ManyNeighboursTakeNoMemoryForEver) {
  DcbxPeer a{{.pfc = pfc(0x08, true)}, kLow, "eth0"};
  for (std::uint8_t i = 10; i < 200; ++i) {
    DcbxPeer b{{.pfc = pfc(0x10)}, MacAddress{{2, 0, 0, 0, 0, i}}, "eth1"};
    EXPECT_TRUE(a.receive(frame_of(b), kStart));
  }
  EXPECT_THAT(a.problem(), HasSubstr("8 others"));
  EXPECT_EQ(enabled(a.operational().pfc), 0x08U);
}

}  // namespace
}  // namespace roce::port
