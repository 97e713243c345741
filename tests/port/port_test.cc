// SPDX-License-Identifier: BSD-2-Clause
// A port between a device and a link: what it does to frames on their way, seen from the link and from the completions.
#include "roce/port/port.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "port/port_rig.h"
#include "roce/link/memory_link.h"
#include "roce/wire/ethernet.h"
#include "roce/wire/icrc.h"
#include "roce/wire/udp.h"

namespace roce::port {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using transport::CompletionStatus;

using test::Host;
using test::kLater;
using test::kNow;
using test::must;
using test::run;
using test::ScriptedLink;
using test::second_half_is;

TEST(Port, CarriesBetweenDevicesOnAWire) {
  for (const link::LinkKind kind : {link::LinkKind::ethernet, link::LinkKind::udp}) {
    auto [left, right] = std::move(*link::MemoryLink::make_pair({.kind = kind}));
    Host a{1};
    Host b{2};
    a.fill();
    Port a_port{a.device, *left, &a.neighbours};
    Port b_port{b.device, *right, &b.neighbours};
    const Qpn a_qp = a.make_qp();
    const Qpn b_qp = b.make_qp();
    a.connect(a_qp, b.gid, b_qp);
    b.connect(b_qp, a.gid, a_qp);
    a.write(a_qp, 5000, b.keys);
    for (const Time now : {kNow, kNow, kLater, kLater}) {
      run(a_port, now);
      run(b_port, now);
    }
    EXPECT_THAT(a.completed(), ElementsAre(CompletionStatus::success));
    EXPECT_TRUE(second_half_is(b, a, 5000));
  }
}

TEST(Port, TwoQpsOfOneDeviceReachEachOtherWithoutTheWire) {
  ScriptedLink link{link::LinkKind::ethernet};
  Host host{1};
  host.fill();
  Port port{host.device, link, &host.neighbours};
  const Qpn one = host.make_qp();
  const Qpn other = host.make_qp();
  host.connect(one, host.gid, other);
  host.connect(other, host.gid, one);
  host.write(one, 5000, host.keys);
  std::vector<std::vector<std::byte>> sent;
  std::vector<std::vector<std::byte>> received;
  port.set_tap([&](Direction direction, Bytes frame, std::int64_t) {
    (direction == Direction::sent ? sent : received).emplace_back(frame.begin(), frame.end());
  });
  run(port);
  run(port, kLater);
  EXPECT_THAT(host.completed(), ElementsAre(CompletionStatus::success));
  EXPECT_TRUE(second_half_is(host, host, 5000));
  EXPECT_THAT(link.sent, IsEmpty());
  EXPECT_THAT(sent, SizeIs(6)) << "5 packets and an ACK";
  EXPECT_EQ(received, sent) << "what goes back to the device is shown as it comes in";
  for (const std::vector<std::byte>& frame : received) {
    EXPECT_EQ(check_icrc(parse_frame(frame, LinkType::ethernet)).status, IcrcStatus::good);
  }
}

/// A WRITE of 5000 bytes as it leaves a device in super-frames, addressed to a given MAC address.
class WriteInSuperFrames {
 public:
  WriteInSuperFrames(Host& from, Host& to, const MacAddress& mac) {
    from.fill();
    const Qpn from_qp = from.make_qp();
    const Qpn to_qp = to.make_qp();
    from.connect(from_qp, to.gid, to_qp);
    to.connect(to_qp, from.gid, from_qp);
    must(from.device.set_neighbour(to.gid, std::nullopt, mac));
    from.write(from_qp, 5000, to.keys);
    std::array<transport::TxUnit, 8> units;
    frames = from.device.transmit(buffer_, units, {.max_bytes = 1U << 14U, .max_segments = 8}, kNow);
    // A NIC that coalesces delivers what one that segments takes. The first packet has a longer header than the next.
    for (const transport::TxUnit& unit : std::span{units}.first(frames)) {
      most_segments = std::max(most_segments, unit.segments);
      link.incoming.push_back({.bytes = unit.bytes,
                               .wire_length = static_cast<std::uint32_t>(unit.bytes.size()),
                               .segment_size = unit.segments > 1 ? unit.segment_size : 0});
    }
  }

  ScriptedLink link{link::LinkKind::ethernet};
  std::size_t frames = 0;
  std::uint32_t most_segments = 0;

 private:
  std::vector<std::byte> buffer_ = std::vector<std::byte>(1U << 16U);
};

TEST(Port, TakesSuperFramesApart) {
  Host a{1};
  Host b{2};
  WriteInSuperFrames write{a, b, b.device.config().mac};
  ASSERT_GE(write.most_segments, 3U) << "no super-frame was made";
  Port port{b.device, write.link, &b.neighbours};
  run(port);
  EXPECT_TRUE(second_half_is(b, a, 5000));
  EXPECT_EQ(b.device.counters().icrc_errors, 0U);
}

TEST(Port, DropsSuperFramesThatAreForAnotherPort) {
  Host a{1};
  Host b{2};
  WriteInSuperFrames write{a, b, {{2, 0, 0, 0, 0, 0x77}}};
  Port port{b.device, write.link, &b.neighbours};
  run(port);
  EXPECT_EQ(b.device.counters().wrong_mac, write.frames);
  EXPECT_EQ(b.device.counters().received_packets, 0U);
  EXPECT_THAT(write.link.sent, IsEmpty());
}

/// Two hosts on links of a kind; the first sends super-frames, and everything that it sends goes to the second.
struct SegmentedPair {
  explicit SegmentedPair(link::LinkKind kind) : a_link(kind), b_link(kind) {
    a_link.max_segments = 64;
    a.fill();
    a_qp = a.make_qp();
    const Qpn b_qp = b.make_qp();
    a.connect(a_qp, b.gid, b_qp);
    b.connect(b_qp, a.gid, a_qp);
    must(a.device.set_neighbour(b.gid, std::nullopt, b.device.config().mac));
    must(b.device.set_neighbour(a.gid, std::nullopt, a.device.config().mac));
  }
  /// Passes frames both ways until nothing moves any more.
  void exchange(Port& from, Port& to) {
    Time now = kNow;
    // Each round is later by the time for which an ACK is held back.
    for (int round = 0; round < 10; ++round, now += kLater - kNow) {
      run(from, now);
      b_link.incoming.clear();
      for (std::size_t i = 0; i < a_link.sent.size(); ++i) {
        b_link.incoming.push_back({.bytes = a_link.sent[i].first,
                                   .wire_length = static_cast<std::uint32_t>(a_link.sent[i].first.size()),
                                   .segment_size = a_link.sent_segment_sizes[i],
                                   .udp = a_link.sent[i].second});
      }
      run(to, now);
      a_link.sent.clear();
      a_link.sent_segment_sizes.clear();
      for (const auto& [bytes, udp] : b_link.sent) {
        a_link.incoming.push_back(
            {.bytes = bytes, .wire_length = static_cast<std::uint32_t>(bytes.size()), .udp = udp});
      }
      run(from, now);
      b_link.sent.clear();
    }
  }

  Host a{1};
  Host b{2};
  Qpn a_qp{};
  ScriptedLink a_link;
  ScriptedLink b_link;
};

class PortSegmentation : public testing::TestWithParam<link::LinkKind> {};
INSTANTIATE_TEST_SUITE_P(Of, PortSegmentation, testing::Values(link::LinkKind::ethernet, link::LinkKind::udp),
                         [](const auto& which) {
                           return which.param == link::LinkKind::udp ? std::string("Udp") : std::string("Ethernet");
                         });

TEST_P(PortSegmentation, SendsSuperFramesAndShowsTheirPackets) {
  SegmentedPair pair{GetParam()};
  pair.a.write(pair.a_qp, 20'000, pair.b.keys);
  Port from{pair.a.device, pair.a_link, &pair.a.neighbours};
  Port to{pair.b.device, pair.b_link, &pair.b.neighbours};
  std::vector<std::vector<std::byte>> sent;
  std::vector<std::vector<std::byte>> received;
  from.set_tap([&](Direction direction, Bytes frame, std::int64_t) {
    if (direction == Direction::sent) sent.emplace_back(frame.begin(), frame.end());
  });
  to.set_tap([&](Direction direction, Bytes frame, std::int64_t) {
    if (direction == Direction::received) received.emplace_back(frame.begin(), frame.end());
  });
  run(from);
  EXPECT_TRUE(std::ranges::any_of(pair.a_link.sent_segment_sizes, [](std::uint32_t size) { return size != 0; }));
  EXPECT_LT(pair.a_link.sent.size(), 10U);
  pair.exchange(from, to);
  EXPECT_THAT(pair.a.completed(), ElementsAre(CompletionStatus::success));
  EXPECT_TRUE(second_half_is(pair.b, pair.a, 20'000));
  EXPECT_EQ(pair.b.device.counters().icrc_errors, 0U);
  EXPECT_EQ(pair.a.device.counters().retransmitted_packets, 0U);
  EXPECT_THAT(sent, SizeIs(pair.a.device.counters().sent_packets));
  ASSERT_THAT(received, SizeIs(sent.size()));
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const Packet packet = parse_frame(sent[i], LinkType::ethernet);
    EXPECT_EQ(packet.problem().reason, ParseReason::none) << i;
    EXPECT_EQ(check_icrc(packet).status, IcrcStatus::good) << i;
    EXPECT_EQ(check_icrc(parse_frame(received[i], LinkType::ethernet)).status, IcrcStatus::good) << i;
    EXPECT_EQ(packet.get<Bth>()->psn, parse_frame(received[i], LinkType::ethernet).get<Bth>()->psn) << i;
  }
}

TEST_P(PortSegmentation, GoesOnPacketByPacketWhenTheLinkRefuses) {
  SegmentedPair pair{GetParam()};
  for (int i = 0; i < 3; ++i) pair.a.write(pair.a_qp, 20'000, pair.b.keys);
  pair.a_link.refuses_after = 1;
  Port from{pair.a.device, pair.a_link, &pair.a.neighbours};
  Port to{pair.b.device, pair.b_link, &pair.b.neighbours};
  std::vector<std::string> refusals;
  from.set_on_refusal([&](const std::string& why) { refusals.push_back(why); });
  run(from);
  EXPECT_EQ(std::ranges::count(pair.a_link.sent_segment_sizes, 0U) + 1, std::ssize(pair.a_link.sent_segment_sizes))
      << "one super-frame, and the rest alone";
  for (std::size_t i = 0; i < pair.a_link.sent.size(); ++i) {
    const auto& [bytes, udp] = pair.a_link.sent[i];
    if (GetParam() != link::LinkKind::udp || pair.a_link.sent_segment_sizes[i] != 0) continue;
    NetMeta net;
    net.version = RoceVersion::v2_ipv4;
    net.source = pair.a.gid;
    net.destination = pair.b.gid;
    net.traffic_class = udp.traffic_class;
    net.hop_limit = udp.hop_limit;
    net.udp_source_port = udp.source_port;
    net.ip_id = 0;
    EXPECT_EQ(check_icrc(parse_transport(bytes, net)).status, IcrcStatus::good) << i;
  }
  pair.exchange(from, to);
  EXPECT_THAT(refusals, ElementsAre("it was tired"));
  EXPECT_THAT(pair.a.completed(),
              ElementsAre(CompletionStatus::success, CompletionStatus::success, CompletionStatus::success));
  EXPECT_TRUE(second_half_is(pair.b, pair.a, 20'000));
  EXPECT_EQ(pair.b.device.counters().icrc_errors, 0U);
  EXPECT_EQ(pair.a.device.counters().retransmitted_packets, 0U) << "nothing was lost";
}

TEST_P(PortSegmentation, MovesTheIcrcsToAnotherSourcePort) {
  if (GetParam() != link::LinkKind::udp) return;
  SegmentedPair pair{GetParam()};
  pair.a_link.only_source_port = 61'111;
  pair.a.write(pair.a_qp, 20'000, pair.b.keys);
  Port from{pair.a.device, pair.a_link, &pair.a.neighbours};
  Port to{pair.b.device, pair.b_link, &pair.b.neighbours};
  pair.exchange(from, to);
  EXPECT_TRUE(second_half_is(pair.b, pair.a, 20'000));
  EXPECT_EQ(pair.b.device.counters().icrc_errors, 0U);
}

TEST(PortSegmentation, TakesSuperFramesToOneselfApart) {
  Host host{1};
  host.fill();
  ScriptedLink link{link::LinkKind::ethernet};
  link.max_segments = 64;
  Port port{host.device, link, &host.neighbours};
  const Qpn one = host.make_qp();
  const Qpn other = host.make_qp();
  host.connect(one, host.gid, other);
  host.connect(other, host.gid, one);
  host.write(one, 5000, host.keys);
  run(port);
  run(port, kLater);
  EXPECT_THAT(host.completed(), ElementsAre(CompletionStatus::success));
  EXPECT_TRUE(second_half_is(host, host, 5000));
  EXPECT_EQ(host.device.counters().retransmitted_packets, 0U);
  EXPECT_THAT(link.sent, IsEmpty());
}

TEST(Port, MakesAndShowsTheIcrcForTheSourcePortThatTheLinkReallyHas) {
  for (const bool is_wrong : {false, true}) {
    Host host{1};
    ScriptedLink link{link::LinkKind::udp};
    link.only_source_port = 40'000;
    Port port{host.device, link, nullptr};
    const Qpn qp = host.make_qp();
    host.connect(qp, Host{2}.gid, Qpn{77});
    struct Breaker final : transport::MisbehaviourHook {
      transport::TxVerdict on_transmit(std::span<std::byte> packet, Time) override {
        packet.back() ^= std::byte{1};
        return {};
      }
    } breaker;
    if (is_wrong) must(host.device.set_hook(qp, &breaker));
    std::vector<std::byte> shown;
    port.set_tap([&shown](Direction, Bytes frame, std::int64_t) { shown.assign(frame.begin(), frame.end()); });
    host.write(qp, 8, host.keys);
    run(port);
    ASSERT_THAT(link.sent, SizeIs(1));
    const auto& [bytes, udp] = link.sent.front();
    EXPECT_EQ(udp.source_port, 40'000);
    NetMeta net;
    net.version = RoceVersion::v2_ipv4;
    net.source = host.gid;
    net.destination = Host{2}.gid;
    net.udp_source_port = udp.source_port;
    net.ip_id = 0;
    const Packet tapped = parse_frame(shown, LinkType::ethernet);
    ASSERT_TRUE(tapped.get<Udp>());
    EXPECT_EQ(tapped.get<Udp>()->source_port, 40'000);
    for (const Packet& packet : {parse_transport(bytes, net, static_cast<std::uint32_t>(bytes.size())), tapped}) {
      const IcrcVerdict verdict = check_icrc(packet);
      EXPECT_EQ(verdict.status, is_wrong ? IcrcStatus::bad : IcrcStatus::good) << to_string(verdict);
      EXPECT_EQ(verdict.stored ^ verdict.computed, is_wrong ? 0x0100'0000U : 0U) << "wrong in the bit that was meant";
    }
  }
}

}  // namespace
}  // namespace roce::port
