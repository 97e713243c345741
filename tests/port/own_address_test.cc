// SPDX-License-Identifier: BSD-2-Clause
#include "roce/port/own_address.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "own_address_frames.h"
#include "own_frame_check.h"
#include "roce/transport/address.h"
#include "roce/wire/checksum.h"
#include "roce/wire/icmpv6.h"
#include "support/hex.h"
#include "support/ip_text.h"

namespace roce::port {
namespace {

using namespace std::chrono_literals;
using namespace test::frames;
using ::roce::test::from_hex;
using ::roce::test::gid;
using ::roce::test::to_hex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::SizeIs;
using ::testing::StartsWith;
using Answers = std::vector<Neighbours::Answer>;
using State = OwnAddress::State;

constexpr MacAddress kOurs{{2, 0, 0, 0, 0, 0x77}};
constexpr MacAddress kHis{{2, 0, 0, 0, 0, 0x01}};
constexpr MacAddress kOther{{2, 0, 0, 0, 0, 0x02}};

struct Sent {
  Duration at{};  // since the start
  std::string frame;
};

class OwnAddressTest : public ::testing::Test {
 protected:
  void make(const std::string& ip, std::uint8_t prefix_bits, const std::string& gateway = {},
            std::optional<std::uint16_t> vlan_id = {}) {
    OwnAddressConfig config{.mac = kOurs, .ip = gid(ip), .prefix_bits = prefix_bits, .vlan_id = vlan_id};
    if (!gateway.empty()) config.gateway = gid(gateway);
    now_ = kStart;
    auto made = OwnAddress::make(config, now_);
    ASSERT_TRUE(made) << made.error().message;
    own_ = std::move(*made);
  }
  /// Makes an address that is ours and has been announced.
  void make_owned(const std::string& ip, std::uint8_t prefix_bits, const std::string& gateway = {},
                  std::optional<std::uint16_t> vlan_id = {}) {
    make(ip, prefix_bits, gateway, vlan_id);
    let_pass(10s);
    ASSERT_EQ(own_->state(), State::owned);
  }
  void make_owned4() { make_owned("10.9.0.77", 24); }
  void make_owned6() { make_owned("fd09::77", 64); }

  bool receive(std::string_view hex) { return own_->receive(from_hex(hex), now_); }
  std::vector<std::string> output() {
    std::vector<std::string> frames;
    for (; !own_->output().empty(); own_->pop_output()) frames.push_back(to_hex(own_->output()));
    return frames;
  }
  /// Returns what is sent while `time` passes; answers are collected in `answers_`.
  std::vector<Sent> let_pass(Duration time) {
    std::vector<Sent> sent;
    const Time end = now_ + time;
    do {
      const Answers news = own_->poll(now_);
      answers_.insert(answers_.end(), news.begin(), news.end());
      for (const std::string& frame : output()) sent.push_back({now_ - kStart, frame});
      EXPECT_GT(own_->next_timeout(), now_) << "would be called again and again";
      now_ = std::min(std::max(own_->next_timeout(), now_), end);
    } while (now_ < end);
    return sent;
  }
  static std::vector<std::string> frames_of(const std::vector<Sent>& sent) {
    std::vector<std::string> frames;
    for (const Sent& one : sent) frames.push_back(one.frame);
    return frames;
  }
  std::vector<std::string> sent_in(Duration time) { return frames_of(let_pass(time)); }
  std::optional<MacAddress> find(const std::string& ip, std::optional<std::uint16_t> vlan_id = {}) {
    return own_->find(gid(ip), vlan_id, now_);
  }
  /// Finds the other host, so that it is known.
  void learn_of(const std::string& ip, std::string_view answer) {
    EXPECT_EQ(find(ip), std::nullopt);
    let_pass(1ms);
    EXPECT_TRUE(receive(answer));
    let_pass(1ms);
    EXPECT_EQ(find(ip), kHis);
    answers_.clear();
  }

  static constexpr Time kStart{1000s};
  Time now_ = kStart;
  std::unique_ptr<OwnAddress> own_;
  Answers answers_;
};

TEST_F(OwnAddressTest, Ipv4IsProbedThenAnnounced) {
  make("10.9.0.77", 24);
  EXPECT_EQ(own_->state(), State::probing);
  EXPECT_THAT(sent_in(990ms), ElementsAre(kArpProbe, kArpProbe, kArpProbe));
  EXPECT_EQ(own_->state(), State::probing);
  EXPECT_THAT(sent_in(20ms), ElementsAre(kArpAnnounce));
  EXPECT_EQ(own_->state(), State::owned);
  EXPECT_THAT(sent_in(60s), ElementsAre(kArpAnnounce));
  EXPECT_EQ(own_->next_timeout(), kNever);
  EXPECT_EQ(own_->duplicate_text(), "");
}

TEST_F(OwnAddressTest, Ipv6IsProbedThenAnnouncedAndItsGroupReported) {
  make("fd09::77", 64);
  // The group is reported without a source address while no address is ours, and once more a second later.
  EXPECT_THAT(sent_in(990ms), ElementsAre(kMld2JoinSnUnspec, kNdProbe, kNdProbe, kNdProbe));
  EXPECT_THAT(sent_in(60s), ElementsAre(kNdAnnounce, kMld2JoinSn, kNdAnnounce));
  EXPECT_EQ(own_->state(), State::owned);
  EXPECT_EQ(own_->next_timeout(), kNever);
}

TEST_F(OwnAddressTest, NothingIsAnsweredBeforeItIsOurs) {
  make("10.9.0.77", 24);
  for (const std::string_view frame : {kArpAskUs, kPing4}) receive(frame);
  EXPECT_THAT(output(), IsEmpty());
  make("fd09::77", 64);
  for (const std::string_view frame : {kNdAskUs, kPing6}) receive(frame);
  EXPECT_THAT(output(), IsEmpty());
}

TEST_F(OwnAddressTest, WhoAnswersAProbeHasTheAddress) {
  for (const auto& [ip, bits, frame] :
       {std::tuple{"10.9.0.77", 24, kArpClaim}, std::tuple{"10.9.0.77", 24, kArpHisProbe},
        std::tuple{"fd09::77", 64, kNdClaim}, std::tuple{"fd09::77", 64, kNdHisProbe}}) {
    make(ip, static_cast<std::uint8_t>(bits));
    let_pass(400ms);
    EXPECT_TRUE(receive(frame));
    EXPECT_EQ(own_->state(), State::duplicate);
    EXPECT_EQ(own_->duplicate_text(),
              "the address " + std::string{ip} +
                  " is in use by another host, 02:00:00:00:00:01; choose another address, or take "
                  "it away from that host");
    EXPECT_THAT(sent_in(60s), IsEmpty());
    EXPECT_FALSE(receive(kArpAskUs));
    EXPECT_FALSE(receive(kNdAskUs));
    EXPECT_THAT(output(), IsEmpty());
    EXPECT_EQ(find(std::string{ip} == "fd09::77" ? "fd09::1" : "10.9.0.1"), std::nullopt);
    EXPECT_EQ(own_->next_timeout(), kNever);
  }
}

TEST_F(OwnAddressTest, IsDefendedAtMostEveryTenSeconds) {
  make_owned4();
  EXPECT_TRUE(receive(kArpClaim));
  EXPECT_THAT(output(), ElementsAre(kArpAnnounce));
  EXPECT_EQ(own_->state(), State::owned);
  EXPECT_THAT(own_->duplicate_text(), HasSubstr("02:00:00:00:00:01"));
  now_ += 9s;
  EXPECT_TRUE(receive(kArpClaim));
  EXPECT_THAT(output(), IsEmpty());
  now_ += 2s;
  EXPECT_TRUE(receive(kArpClaim));
  EXPECT_THAT(output(), ElementsAre(kArpAnnounce));
}

TEST_F(OwnAddressTest, AnswersArp) {
  make_owned4();
  EXPECT_TRUE(receive(kArpAskUs));
  EXPECT_THAT(output(), ElementsAre(kArpOurReply));
  // Ethernet pads it like this.
  EXPECT_TRUE(receive(std::string{kArpAskUs} + std::string(36, '0')));
  EXPECT_THAT(output(), ElementsAre(kArpOurReply));
}

TEST_F(OwnAddressTest, AnswersNeighbourSolicitations) {
  make_owned6();
  EXPECT_TRUE(receive(kNdAskUs));
  EXPECT_THAT(output(), ElementsAre(kNdOurAnswer));
  EXPECT_TRUE(receive(kNdHisProbe));
  EXPECT_THAT(output(), ElementsAre(kNdAnnounce));
  EXPECT_FALSE(receive(kNdAskUsFar));
  EXPECT_THAT(output(), IsEmpty());
}

TEST_F(OwnAddressTest, AnswersEcho) {
  make_owned4();
  EXPECT_TRUE(receive(kPing4));
  EXPECT_THAT(output(), ElementsAre(kPong4));
  EXPECT_FALSE(receive(kPing6));
  make_owned6();
  EXPECT_TRUE(receive(kPing6));
  EXPECT_THAT(output(), ElementsAre(kPong6));
  EXPECT_FALSE(receive(kPing4));
  EXPECT_THAT(output(), IsEmpty());
}

TEST_F(OwnAddressTest, StaysInItsVlan) {
  make_owned("10.9.0.77", 24, "", 5);
  EXPECT_FALSE(receive(kArpAskUs));
  EXPECT_TRUE(receive(kArpAskUsVlan));
  EXPECT_THAT(output(), ElementsAre(kArpOurReplyVlan));
  EXPECT_EQ(find("10.9.0.1"), std::nullopt);
  EXPECT_THAT(sent_in(5s), IsEmpty());
  EXPECT_EQ(own_->why_unknown(gid("10.9.0.1"), {}),
            "cannot find the MAC address of 10.9.0.1: it was looked for without a VLAN tag, and our address is one in "
            "VLAN 5; take the same for both");
  EXPECT_EQ(find("10.9.0.1", 5), std::nullopt);
  EXPECT_THAT(sent_in(1ms), ElementsAre(StartsWith("ffffffffffff0200000000778100000508060001")));
  make_owned4();
  EXPECT_FALSE(receive(kArpAskUsVlan));
  // VLAN 0 is a priority without a VLAN.
  std::string priority{kArpAskUsVlan};
  priority.replace(28, 4, "6000");
  EXPECT_TRUE(receive(priority));
  EXPECT_THAT(output(), ElementsAre(kArpOurReply));
}

TEST_F(OwnAddressTest, FindsOthersByArp) {
  make_owned4();
  EXPECT_EQ(find("10.9.0.1"), std::nullopt);
  EXPECT_THAT(sent_in(1ms), ElementsAre(kArpOurQuestion));
  EXPECT_TRUE(receive(kArpHisReply));
  EXPECT_LE(own_->next_timeout(), now_);
  EXPECT_THAT(own_->poll(now_), ElementsAre(Neighbours::Answer{gid("10.9.0.1"), {}, kHis}));
  EXPECT_THAT(own_->poll(now_), IsEmpty());
  EXPECT_EQ(find("10.9.0.1"), kHis);
}

TEST_F(OwnAddressTest, FindsOthersByNeighbourDiscovery) {
  make_owned6();
  EXPECT_EQ(find("fd09::1"), std::nullopt);
  EXPECT_THAT(sent_in(1ms), ElementsAre(kNdOurQuestion));
  EXPECT_TRUE(receive(kNdHisAnswer));
  EXPECT_THAT(own_->poll(now_), ElementsAre(Neighbours::Answer{gid("fd09::1"), {}, kHis}));
  EXPECT_EQ(find("fd09::1"), kHis);
}

TEST_F(OwnAddressTest, SearchesBeginWhenTheAddressIsOurs) {
  make("10.9.0.77", 24);
  EXPECT_EQ(find("10.9.0.1"), std::nullopt);
  EXPECT_THAT(sent_in(2s),
              ElementsAre(kArpProbe, kArpProbe, kArpProbe, kArpAnnounce, kArpOurQuestion, kArpOurQuestion));
}

TEST_F(OwnAddressTest, AsksEachSecondThreeTimesThenPauses) {
  make_owned4();
  const Duration begin = now_ - kStart;
  EXPECT_EQ(find("10.9.0.1"), std::nullopt);
  std::vector<Duration> times;
  for (const Sent& one : let_pass(20s)) {
    EXPECT_EQ(one.frame, kArpOurQuestion);
    times.push_back(one.at - begin);
  }
  EXPECT_THAT(times, ElementsAre(0s, 1s, 2s, 8s, 9s, 10s, 16s, 17s, 18s));
  EXPECT_EQ(own_->why_unknown(gid("10.9.0.1"), {}),
            "10.9.0.1 does not answer (ARP); check that it is up and that this is its network");
  // An answer that comes very late is used, too.
  EXPECT_TRUE(receive(kArpHisReply));
  let_pass(1ms);
  EXPECT_THAT(answers_, ElementsAre(Neighbours::Answer{gid("10.9.0.1"), {}, kHis}));
}

TEST_F(OwnAddressTest, AsksAgainAfterThirtySecondsAtTheKnownAddress) {
  make_owned4();
  learn_of("10.9.0.1", kArpHisReply);
  EXPECT_THAT(sent_in(29s), IsEmpty());
  EXPECT_THAT(sent_in(1500ms), ElementsAre(kArpOurReconfirm));
  EXPECT_TRUE(receive(kArpHisReply));
  EXPECT_THAT(sent_in(29s), IsEmpty());
  EXPECT_THAT(answers_, IsEmpty()) << "that nothing has changed is no news";
  // A neighbour that does not answer any more is asked three times, then searched for everywhere.
  EXPECT_THAT(sent_in(6500ms), ElementsAre(kArpOurReconfirm, kArpOurReconfirm, kArpOurReconfirm, kArpOurQuestion,
                                           kArpOurQuestion, kArpOurQuestion));
  EXPECT_EQ(find("10.9.0.1"), std::nullopt);
  make_owned6();
  learn_of("fd09::1", kNdHisAnswer);
  EXPECT_THAT(sent_in(30500ms), ElementsAre(kNdOurReconfirm));
}

TEST_F(OwnAddressTest, WhoMovesIsFollowed) {
  make_owned6();
  learn_of("fd09::1", kNdHisAnswer);
  receive(kNdProxy);
  EXPECT_EQ(find("fd09::1"), kHis) << "without the override flag";
  receive(kNdMoved);
  EXPECT_THAT(own_->poll(now_), ElementsAre(Neighbours::Answer{gid("fd09::1"), {}, kOther}));
  make_owned4();
  learn_of("10.9.0.1", kArpHisReply);
  std::string moved{kArpHisReply};
  for (const std::size_t at : {23U, 55U}) moved[at] = '2';
  receive(moved);
  EXPECT_EQ(find("10.9.0.1"), kOther);
}

TEST_F(OwnAddressTest, OtherNetworksAreBehindTheGateway) {
  make_owned("10.9.0.77", 24, "10.9.0.1");
  EXPECT_EQ(find("192.0.2.5"), std::nullopt);
  EXPECT_EQ(find("192.0.2.6"), std::nullopt);
  EXPECT_THAT(sent_in(1ms), ElementsAre(kArpOurQuestion));
  EXPECT_TRUE(receive(kArpHisReply));
  EXPECT_THAT(own_->poll(now_), ElementsAre(Neighbours::Answer{gid("192.0.2.5"), {}, kHis},
                                            Neighbours::Answer{gid("192.0.2.6"), {}, kHis}));
  EXPECT_THAT(own_->why_unknown(gid("192.0.2.5"), {}),
              StartsWith("10.9.0.1, the gateway to 192.0.2.5, does not answer"));
  make_owned6();
  EXPECT_EQ(find("2001:db8::1"), std::nullopt);
  EXPECT_THAT(sent_in(60s), IsEmpty());
  EXPECT_EQ(
      own_->why_unknown(gid("2001:db8::1"), {}),
      "cannot find the MAC address of 2001:db8::1: it is not in our network fd09::77/64; give a gateway, or take a "
      "shorter prefix");
  EXPECT_THAT(own_->why_unknown(gid("192.0.2.1"), {}), HasSubstr("of the other IP version"));
  EXPECT_EQ(find("fe80::1"), std::nullopt);
  EXPECT_THAT(sent_in(1ms), ElementsAre(StartsWith("3333ff000001"))) << "link-local addresses are near";
}

TEST_F(OwnAddressTest, SomeAddressesNeedNoSearch) {
  make_owned4();
  EXPECT_EQ(find("10.9.0.77"), kOurs);
  EXPECT_EQ(find("10.9.0.255"), (MacAddress{{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}}));
  EXPECT_EQ(find("239.1.2.3"), (MacAddress{{1, 0, 0x5E, 1, 2, 3}}));
  make_owned6();
  EXPECT_EQ(find("ff0e::123"), (MacAddress{{0x33, 0x33, 0, 0, 1, 0x23}}));
  EXPECT_EQ(own_->fd(), -1);
  EXPECT_EQ(solicited_node_group(gid("2001:db8::12:3456")), gid("ff02::1:ff12:3456"));
}

TEST_F(OwnAddressTest, ReportsIpv4Groups) {
  make_owned4();
  EXPECT_TRUE(own_->join(gid("239.1.2.3"), now_));
  EXPECT_TRUE(own_->join(gid("239.1.2.3"), now_));
  EXPECT_THAT(sent_in(60s), ElementsAre(kIgmp3Join, kIgmp3Join));
  EXPECT_TRUE(receive(kIgmp3QueryGroup));
  EXPECT_THAT(sent_in(1001ms), ElementsAre(kIgmp3Is));
  EXPECT_TRUE(own_->join(gid("239.1.2.4"), now_));
  let_pass(2s);
  const Duration asked = now_ - kStart;
  EXPECT_TRUE(receive(kIgmp3Query));
  const std::vector<Sent> answers = let_pass(60s);
  EXPECT_THAT(frames_of(answers), ElementsAre(kIgmp3IsTwo));
  EXPECT_LE(answers.at(0).at - asked, 10s);
  EXPECT_TRUE(own_->leave(gid("239.1.2.4"), now_));
  EXPECT_TRUE(own_->leave(gid("239.1.2.3"), now_));
  let_pass(5s);
  EXPECT_TRUE(own_->join(gid("239.1.2.3"), now_));
  let_pass(5s);
  EXPECT_TRUE(own_->leave(gid("239.1.2.3"), now_));
  EXPECT_THAT(sent_in(60s), ElementsAre(kIgmp3Leave, kIgmp3Leave));
  EXPECT_TRUE(receive(kIgmp3Query));
  EXPECT_THAT(sent_in(60s), IsEmpty());
  EXPECT_FALSE(own_->join(gid("10.9.0.1"), now_));
  EXPECT_FALSE(own_->join(gid("ff0e::123"), now_));
  EXPECT_TRUE(own_->join(gid("224.0.0.1"), now_));
  EXPECT_THAT(sent_in(5s), IsEmpty()) << "nobody reports the group of all hosts";
}

TEST_F(OwnAddressTest, AnswersAnOldRouterAsItUnderstands) {
  make_owned4();
  EXPECT_TRUE(receive(kIgmp2Query));
  EXPECT_TRUE(own_->join(gid("239.1.2.3"), now_));
  EXPECT_THAT(sent_in(11s), ElementsAre(kIgmp2Report, kIgmp2Report, kIgmp2Report)) << "joined, again, and the answer";
  EXPECT_TRUE(own_->leave(gid("239.1.2.3"), now_));
  EXPECT_THAT(sent_in(5s), ElementsAre(kIgmp2Leave, kIgmp2Leave));
  let_pass(300s);
  EXPECT_TRUE(own_->join(gid("239.1.2.3"), now_));
  EXPECT_THAT(sent_in(5s), ElementsAre(kIgmp3Join, kIgmp3Join)) << "the old router is gone";
}

TEST_F(OwnAddressTest, ReportsIpv6Groups) {
  make_owned6();
  EXPECT_TRUE(receive(kMld2Query));
  EXPECT_THAT(sent_in(10001ms), ElementsAre(kMld2IsSn));
  EXPECT_TRUE(own_->join(gid("ff0e::123"), now_));
  EXPECT_THAT(sent_in(5s), ElementsAre(kMld2Join, kMld2Join));
  EXPECT_TRUE(own_->leave(gid("ff0e::123"), now_));
  EXPECT_THAT(sent_in(5s), ElementsAre(kMld2Leave, kMld2Leave));
  EXPECT_TRUE(receive(kMld1Query));
  EXPECT_THAT(sent_in(10001ms), ElementsAre(kMld1Report));
  EXPECT_TRUE(own_->join(gid("ff0e::123"), now_));
  let_pass(5s);
  EXPECT_TRUE(own_->leave(gid("ff0e::123"), now_));
  EXPECT_THAT(sent_in(5s), ElementsAre(kMld1Done, kMld1Done));
}

constexpr std::array kForUs{kArpAskUs, kPing4,     kIgmp3Query, kIgmp2Query,  kArpHisReply, kArpClaim, kNdAskUs,
                            kPing6,    kMld2Query, kMld1Query,  kNdHisAnswer, kNdMoved,     kNdClaim,  kNdHisProbe};

TEST_F(OwnAddressTest, ADamagedMessageIsPassedOver) {
  for (const char* ip : {"10.9.0.77", "fd09::77"}) {
    make_owned(ip, 24);
    for (const std::string_view good : {kPing4, kPing6, kNdAskUs, kNdClaim, kIgmp3Query, kMld2Query}) {
      // Each bit behind the Ethernet header is covered by a checksum or decides whether the frame is for us, except
      // those of IPv6's traffic class, flow label and hop limit.
      const bool is_ipv4 = good.substr(24, 4) == "0800";
      if (is_ipv4 != (std::string{ip} == "10.9.0.77")) continue;
      for (std::size_t bit = 14 * 8; bit < good.size() * 4; ++bit) {
        std::vector<std::byte> bad = from_hex(good);
        bad[bit / 8] ^= static_cast<std::byte>(0x80 >> bit % 8);
        const bool is_ipv6_free = !is_ipv4 && ((bit >= 14 * 8 + 4 && bit < 18 * 8) || bit / 8 == 21);
        if (is_ipv6_free) continue;
        own_->receive(bad, now_);
        EXPECT_THAT(output(), IsEmpty()) << good << " bit " << bit;
        EXPECT_EQ(own_->duplicate_text(), "") << good << " bit " << bit;
      }
    }
    let_pass(60s);
  }
}

TEST_F(OwnAddressTest, NoFrameMakesItStumble) {
  std::mt19937 random(40);
  for (const std::string ip : {"10.9.0.77", "fd09::77"}) {
    const bool is_ipv4 = ip == "10.9.0.77";
    const std::string other = is_ipv4 ? "10.9.0.1" : "fd09::1";
    make_owned(ip, 24);
    static_cast<void>(find(other));
    std::size_t answered = 0;
    for (int round = 0; round < 30000; ++round) {
      std::vector<std::byte> frame = from_hex(kForUs.at(random() % kForUs.size()));
      if (random() % 2 == 0) frame.resize(random() % (frame.size() + 1));
      for (unsigned edits = random() % 4; edits > 0 && !frame.empty(); --edits) {
        frame[random() % frame.size()] = static_cast<std::byte>(random());
      }
      if (random() % 2 == 0) test::repair_checksums(frame);
      // On the heap and of exactly this size, so that a sanitizer notices any access beyond it.
      own_->receive(std::vector<std::byte>(frame), now_);
      std::vector<std::string> sent = output();
      answered += sent.size();
      ASSERT_THAT(sent, SizeIs(Le(1U))) << "an amplifier, for " << to_hex(frame);
      if (random() % 16 == 0) {
        const std::vector<std::string> later = sent_in(Duration{random() % 1'000'000'000});
        // A question to the one neighbour, and the reports for two queries: a general one and one for a group.
        ASSERT_THAT(later, SizeIs(Le(3U))) << "after " << to_hex(frame);
        sent.insert(sent.end(), later.begin(), later.end());
      }
      for (const std::string& one : sent) {
        ASSERT_EQ(test::flaw_of(from_hex(one), kOurs, gid(ip)), "") << one << " after " << to_hex(frame);
      }
    }
    EXPECT_GT(answered, 1000U) << "too little of it was understood to show anything";
    // It goes on as if nothing had happened.
    EXPECT_EQ(own_->state(), State::owned);
    let_pass(60s);
    for (const auto& [question, answer] :
         {std::pair{is_ipv4 ? kArpAskUs : kNdAskUs, is_ipv4 ? kArpOurReply : kNdOurAnswer},
          std::pair{is_ipv4 ? kPing4 : kPing6, is_ipv4 ? kPong4 : kPong6}}) {
      EXPECT_TRUE(receive(question));
      EXPECT_THAT(output(), ElementsAre(answer));
    }
    EXPECT_TRUE(receive(is_ipv4 ? kArpHisReply : kNdHisAnswer));
    EXPECT_EQ(find(other), kHis);
  }
}

TEST_F(OwnAddressTest, FramesForOthersAreLeftToThem) {
  make_owned4();
  EXPECT_FALSE(receive("0200000000770200000000018915" + std::string(120, '0')));
  // A frame to another station, in promiscuous mode.
  std::string elsewhere{kPing4};
  elsewhere[11] = '8';
  EXPECT_FALSE(receive(elsewhere));
  // Our own frames, from a switch that sends everything back.
  EXPECT_FALSE(receive(kArpAnnounce));
  EXPECT_FALSE(receive(kArpProbe));
  EXPECT_EQ(own_->duplicate_text(), "");
  EXPECT_THAT(output(), IsEmpty());
  make("fd09::77", 64);
  EXPECT_FALSE(receive(kNdProbe));
  EXPECT_EQ(own_->state(), State::probing);
}

TEST_F(OwnAddressTest, OptionsThatDoNotFitArePassedOver) {
  make_owned6();
  for (const unsigned length : {0U, 1U, 2U, 31U, 255U}) {
    std::vector<std::byte> frame = from_hex(kNdAskUs);
    const std::size_t message = 14 + 40;
    frame[message + 25] = static_cast<std::byte>(length);
    FieldOf<&Icmpv6::checksum>::set(frame.data() + message, 0);
    FieldOf<&Icmpv6::checksum>::set(frame.data() + message,
                                    ipv6_upper_checksum(gid("fd09::1"), solicited_node_group(gid("fd09::77")),
                                                        IpProtocol::icmpv6, Bytes{frame}.subspan(message)));
    EXPECT_EQ(own_->receive(std::vector<std::byte>(frame), now_), length == 1) << length;
    EXPECT_EQ(output().size(), length == 1 ? 1U : 0U);
  }
}

TEST_F(OwnAddressTest, OutputIsBounded) {
  make_owned4();
  for (int i = 0; i < 5000; ++i) receive(kPing4);
  EXPECT_THAT(output().size(), Le(1024U));
}

TEST(OwnAddress, RefusesWhatNoSingleHostCanHave) {
  const auto refused = [](const std::string& ip, std::uint8_t bits, const std::string& gateway = {}) {
    OwnAddressConfig config{.mac = kOurs, .ip = gid(ip), .prefix_bits = bits};
    if (!gateway.empty()) config.gateway = gid(gateway);
    const auto made = OwnAddress::make(config, Time{});
    return made ? std::string{} : made.error().message;
  };
  EXPECT_EQ(refused("10.9.0.77", 24, "10.9.0.1"), "");
  EXPECT_EQ(refused("10.9.0.0", 31, "10.9.0.1"), "");
  EXPECT_EQ(refused("fd09::77", 64, "fe80::1"), "");
  EXPECT_EQ(
      refused("224.0.0.9", 24),
      "cannot take the address 224.0.0.9/24: it is not the address of a single host; give another one of the network");
  for (const auto& [ip, bits] : {std::pair{"0.0.0.0", 24}, std::pair{"10.9.0.0", 24}, std::pair{"10.9.0.255", 24},
                                 std::pair{"255.255.255.255", 32}, std::pair{"127.0.0.2", 8}, std::pair{"::", 64},
                                 std::pair{"::1", 64}, std::pair{"ff02::1", 64}}) {
    EXPECT_THAT(refused(ip, static_cast<std::uint8_t>(bits)), HasSubstr("not the address of a single host")) << ip;
  }
  EXPECT_THAT(refused("10.9.0.77", 33), HasSubstr("IPv4 has 32 bits at most"));
  EXPECT_THAT(refused("fd09::77", 129), HasSubstr("IPv6 has 128 bits at most"));
  for (const char* gateway : {"10.9.1.1", "10.9.0.77", "fd09::1"}) {
    EXPECT_THAT(refused("10.9.0.77", 24, gateway), HasSubstr("is no other host of that network")) << gateway;
  }
}

}  // namespace
}  // namespace roce::port
