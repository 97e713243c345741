// SPDX-License-Identifier: BSD-2-Clause
#include "roce/link/udp_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <ostream>

#include "udp_fixture.h"

namespace roce::link::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST_P(UdpLinkTest, CarriesBytesAndHeadersBothWays) {
  const auto a = open(first());
  const auto b = open(second());
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->kind(), LinkKind::udp);
  for (const bool forth : {true, false}) {
    Link& from = forth ? *a : *b;
    Link& to = forth ? *b : *a;
    unsigned seed = forth ? 1 : 100;
    for (const std::size_t size : std::array<std::size_t, 5>{0, 1, 12, 1040, 4144}) {
      // The two traffic classes have different ECN codes: CE and ECT(0).
      const auto traffic_class = static_cast<std::uint8_t>(forth ? 0x6b : 0x82);
      UdpMeta udp = forth ? meta(first(), second(), 50001) : meta(second(), first(), 61234);
      udp.traffic_class = traffic_class;
      udp.hop_limit = forth ? 17 : 255;
      ASSERT_TRUE(send_one(from, pattern(size, ++seed), udp));
      const auto kept = collect(to, 1);
      ASSERT_EQ(kept.size(), 1U);
      EXPECT_EQ(kept[0].bytes, pattern(size, seed));
      EXPECT_EQ(kept[0].frame.wire_length, size);
      EXPECT_EQ(kept[0].frame.udp, udp);
      EXPECT_EQ(kept[0].frame.segment_size, 0U);
    }
  }
  EXPECT_EQ(a->counters(), b->counters());
  EXPECT_EQ(a->counters().sent, 5U);
  EXPECT_EQ(a->counters().sent_bytes, 0U + 1 + 12 + 1040 + 4144);
}

TEST_P(UdpLinkTest, SendsTheHopLimitAskedForWhateverTheMachinesIs) {
  if (!network()) GTEST_SKIP() << *OwnNetwork::unavailable();
  std::ofstream(v6() ? "/proc/sys/net/ipv6/conf/lo/hop_limit" : "/proc/sys/net/ipv4/ip_default_ttl") << "99\n";
  const auto a = open(first());
  const auto b = open(second());
  ASSERT_TRUE(a && b);
  const PlainSocket stranger(first());
  ASSERT_TRUE(stranger.send_to(second(), 4791, pattern(10)));
  UdpMeta udp = meta(first(), second(), 50001);
  for (const std::uint8_t limit : {std::uint8_t{64}, std::uint8_t{1}, std::uint8_t{64}}) {
    udp.hop_limit = limit;
    ASSERT_TRUE(send_one(*a, pattern(10), udp));
  }
  const auto kept = collect(*b, 4);
  ASSERT_EQ(kept.size(), 4U);
  EXPECT_EQ(kept[0].frame.udp.hop_limit, 99U) << "the machine's";
  EXPECT_EQ(kept[1].frame.udp.hop_limit, 64U);
  EXPECT_EQ(kept[2].frame.udp.hop_limit, 1U);
  EXPECT_EQ(kept[3].frame.udp.hop_limit, 64U);
}

TEST_P(UdpLinkTest, TellsWhenADatagramCame) {
  const auto a = open(first());
  const auto b = open(second());
  ASSERT_TRUE(a && b);
  const auto now = [] {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
  };
  const auto before = now();
  ASSERT_TRUE(send_one(*a, pattern(20), meta(first(), second(), 50001)));
  const auto kept = collect(*b, 1);
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_GE(kept[0].frame.timestamp_ns, before);
  EXPECT_LE(kept[0].frame.timestamp_ns, now());
}

TEST_P(UdpLinkTest, WritesTheHeadersThatTheIcrcCountsOn) {
  if (!network()) GTEST_SKIP() << *OwnNetwork::unavailable();
  const Sniffer sniffer;
  ASSERT_TRUE(sniffer.good()) << std::strerror(errno);
  const auto a = open(first());
  const auto b = open(second());
  ASSERT_TRUE(a && b);
  UdpMeta udp = meta(first(), second(), 50001);
  udp.traffic_class = 0x6b;
  udp.hop_limit = 17;
  // Several packets from several ports, since an identification that counts begins anywhere.
  for (unsigned i = 0; i < 6; ++i) {
    udp.source_port = static_cast<std::uint16_t>(50001 + i % 2);
    ASSERT_TRUE(send_one(*a, pattern(100, i), udp));
  }
  for (unsigned i = 0; i < 6; ++i) {
    const Bytes frame = sniffer.next();
    ASSERT_FALSE(frame.empty());
    const auto at = [&](std::size_t offset) { return std::to_integer<unsigned>(frame.at(offset)); };
    const auto at16 = [&](std::size_t offset) { return at(offset) << 8 | at(offset + 1); };
    const std::size_t udp_header = v6() ? 14 + 40 : 14 + 20;
    if (v6()) {
      EXPECT_EQ(at16(14) >> 4, 0x66bU) << "version and traffic class";
      EXPECT_EQ(at(21), 17U) << "hop limit";
    } else {
      EXPECT_EQ(at(14), 0x45U);
      EXPECT_EQ(at(15), 0x6bU) << "type of service";
      EXPECT_EQ(at16(18), 0U) << "identification";
      EXPECT_EQ(at16(20), 0x4000U) << "Don't Fragment";
      EXPECT_EQ(at(22), 17U) << "time to live";
    }
    EXPECT_EQ(at16(udp_header), 50001 + i % 2);
    EXPECT_EQ(at16(udp_header + 2), 4791U);
    EXPECT_EQ(at16(udp_header + 6), 0U) << "checksum";
    EXPECT_EQ(Bytes(frame.begin() + static_cast<std::ptrdiff_t>(udp_header) + 8, frame.end()), pattern(100, i));
  }
  EXPECT_EQ(collect(*b, 6).size(), 6U) << "a datagram with checksum 0 must be let in";
}

TEST_P(UdpLinkTest, CarriesManyFramesOfManySourcePorts) {
  constexpr std::size_t kRounds = 60;
  constexpr std::size_t kFrames = 100;
  const auto a = open(first());
  const auto b = open(second());
  ASSERT_TRUE(a && b);
  for (std::size_t round = 0; round < kRounds; ++round) {
    std::vector<Bytes> bytes;
    for (unsigned i = 0; i < kFrames; ++i) bytes.push_back(pattern(1 + (round * 131 + i * 17) % 500, i));
    std::vector<TxFrame> frames;
    for (unsigned i = 0; i < kFrames; ++i) {
      // One run longer than a batch, then another port for each frame.
      const auto port = static_cast<std::uint16_t>(i < 70 ? 50001 : 50001 + i);
      frames.push_back({bytes[i], meta(first(), second(), port)});
    }
    std::size_t sent = 0;
    while (sent < kFrames) {
      const auto now = a->send(std::span(frames).subspan(sent));
      ASSERT_TRUE(now) << now.error().message;
      sent += *now;
    }
    const auto kept = collect(*b, kFrames);
    ASSERT_EQ(kept.size(), kFrames);
    for (std::size_t i = 0; i < kFrames; ++i) {
      ASSERT_EQ(kept[i].bytes, bytes[i]) << round << ' ' << i;
      ASSERT_EQ(kept[i].frame.udp, frames[i].udp) << round << ' ' << i;
    }
  }
  EXPECT_EQ(a->counters().sent, kRounds * kFrames);
  EXPECT_EQ(b->counters().received, kRounds * kFrames);
  EXPECT_EQ(b->counters().receive_drops, 0U);
}

TEST_P(UdpLinkTest, CountsWhatFoundNoRoom) {
  const auto a = open(first());
  const auto b = UdpLink::open({.local = second(), .receive_buffer_bytes = 8192});
  ASSERT_TRUE(a && b);
  constexpr std::uint64_t kFrames = 500;
  for (unsigned i = 0; i < kFrames; ++i) ASSERT_TRUE(send_one(*a, pattern(1000), meta(first(), second(), 50001)));
  // Nothing has been received yet, and nothing comes after the lost datagrams.
  const std::uint64_t drops = (*b)->counters().receive_drops;
  EXPECT_GT(drops, 0U);
  EXPECT_EQ(collect(**b, static_cast<std::size_t>(kFrames - drops)).size(), kFrames - drops);
  EXPECT_FALSE(readable(**b, 0));
  EXPECT_EQ((*b)->counters().receive_drops, drops);
}

TEST_P(UdpLinkTest, IsReadableExactlyWhileDatagramsAreThere) {
  const auto a = open(first());
  const auto b = open(second());
  ASSERT_TRUE(a && b);
  std::array<RxFrame, 2> frames;
  EXPECT_FALSE(readable(*b, 0));
  EXPECT_EQ(b->receive(frames), 0U);
  for (unsigned i = 0; i < 3; ++i) ASSERT_TRUE(send_one(*a, pattern(10, i), meta(first(), second(), 50001)));
  EXPECT_TRUE(readable(*b, 2000));
  EXPECT_EQ(b->receive(frames), 2U);
  EXPECT_TRUE(readable(*b, 0));
  EXPECT_EQ(b->receive({}), 0U);
  EXPECT_EQ(b->receive(frames), 1U);
  EXPECT_FALSE(readable(*b, 0));
}

TEST_P(UdpLinkTest, CountsFramesThatCannotGoAndGoesOn) {
  const auto a = open(first());
  const auto b = open(second());
  ASSERT_TRUE(a && b);
  const UdpMeta good = meta(first(), second(), 50001);
  UdpMeta other_family = good;
  other_family.destination = address(v6() ? "127.0.0.1" : "::1");
  UdpMeta other_source = good;
  other_source.source = second();
  UdpMeta unspecified_source = good;
  unspecified_source.source = {};
  UdpMeta no_way = good;
  // Documentation prefixes; the namespace has a loopback interface only.
  no_way.destination = address(v6() ? "2001:db8::1" : "198.51.100.1");
  if (!network()) no_way = other_source;
  const Bytes small = pattern(30);
  const Bytes long_one = pattern(a->max_bytes() + 1);
  const std::array frames = {TxFrame{small, other_family}, TxFrame{small, good},   TxFrame{long_one, good},
                             TxFrame{small, good},         TxFrame{small, no_way}, TxFrame{small, unspecified_source},
                             TxFrame{small, other_source}};
  EXPECT_EQ(a->send(frames), frames.size());
  EXPECT_EQ(a->counters().send_errors, 4U);
  EXPECT_EQ(a->counters().sent, 3U);
  EXPECT_EQ(collect(*b, 3).size(), 3U);
}

TEST_P(UdpLinkTest, StaysWhenNobodyListens) {
  const auto a = open(first());
  ASSERT_TRUE(a);
  const UdpMeta udp = meta(first(), second(), 50001);
  const UdpMeta from_4791 = meta(first(), second(), 4791);
  for (unsigned i = 0; i < 3; ++i) {
    EXPECT_TRUE(send_one(*a, pattern(10), udp));
    EXPECT_TRUE(send_one(*a, pattern(10), from_4791));
  }
  std::array<RxFrame, 2> frames;
  EXPECT_EQ(a->receive(frames), 0U);
  EXPECT_TRUE(a->check());
  const auto b = open(second());
  ASSERT_TRUE(b);
  EXPECT_TRUE(send_one(*a, pattern(10), from_4791));
  const auto kept = collect(*b, 1);
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].frame.udp, from_4791);
}

TEST_P(UdpLinkTest, SaysThatThePortIsTakenAndLeavesNothingBehind) {
  const auto before = open_files();
  {
    const auto a = open(first());
    ASSERT_TRUE(a);
    const auto again = UdpLink::open({.local = first()});
    ASSERT_FALSE(again);
    EXPECT_THAT(again.error().message, AllOf(HasSubstr(name(first())), HasSubstr("4791"), HasSubstr("is taken"),
                                             HasSubstr("Soft-RoCE"), HasSubstr("end that one")));
    EXPECT_FALSE(again.error().no_permission);
    for (std::uint16_t port = 50001; port < 50011; ++port) {
      ASSERT_TRUE(send_one(*a, pattern(10), meta(first(), second(), port)));
    }
    EXPECT_EQ(open_files(), before + 11);
  }
  EXPECT_EQ(open_files(), before);
  EXPECT_TRUE(open(first()));
}

TEST_P(UdpLinkTest, SendsFromAnotherPortWhereAProgramHasIt) {
  const auto a = open(first());
  const auto b = open(second());
  ASSERT_TRUE(a && b);
  const PlainSocket program(first());
  const std::uint16_t taken = program.port();
  ASSERT_NE(taken, 0);
  const std::uint16_t other = a->source_port(taken);
  EXPECT_NE(other, taken);
  EXPECT_EQ(a->source_port(taken), other) << "always the same";
  EXPECT_EQ(a->source_port(other), other);
  const std::uint16_t low = a->source_port(50002);
  EXPECT_EQ(low, 50002);
  const auto files = open_files();
  for (const std::uint16_t port : {taken, other, std::uint16_t{50002}}) {
    ASSERT_TRUE(send_one(*a, pattern(10), meta(first(), second(), port)));
  }
  EXPECT_EQ(open_files(), files) << "the sockets were there";
  const auto kept = collect(*b, 3);
  ASSERT_EQ(kept.size(), 3U);
  EXPECT_EQ(kept[0].frame.udp.source_port, other);
  EXPECT_EQ(kept[1].frame.udp.source_port, other);
  EXPECT_EQ(kept[2].frame.udp.source_port, 50002);
}

TEST_P(UdpLinkTest, GivesUpThePortThatWasNotUsedForLongest) {
  const auto a = UdpLink::open({.local = first(), .max_source_ports = 2});
  const auto b = open(second());
  ASSERT_TRUE(a && b);
  const auto files = open_files();
  const std::vector<std::uint16_t> ports = {50001, 50002, 50001, 50003};
  for (const std::uint16_t port : ports) {
    ASSERT_TRUE(send_one(**a, pattern(10), meta(first(), second(), port)));
  }
  EXPECT_EQ(open_files(), files + 2);
  const auto kept = collect(*b, ports.size());
  ASSERT_EQ(kept.size(), ports.size());
  for (std::size_t i = 0; i < ports.size(); ++i) EXPECT_EQ(kept[i].frame.udp.source_port, ports[i]);
  EXPECT_EQ(PlainSocket(first(), 50001).port(), 0) << "still ours";
  EXPECT_EQ(PlainSocket(first(), 50002).port(), 50002) << "given up";
  EXPECT_EQ(PlainSocket(first(), 50003).port(), 0) << "still ours";
}

TEST_P(UdpLinkTest, CollectsNothingAtItsSourcePorts) {
  const auto a = open(first());
  ASSERT_TRUE(a);
  ASSERT_EQ(a->source_port(50001), 50001);
  const PlainSocket stranger(second());
  EXPECT_TRUE(stranger.send_to(first(), 4791, pattern(100)));
  for (unsigned i = 0; i < 20; ++i) EXPECT_TRUE(stranger.send_to(first(), 50001, pattern(100)));
  EXPECT_EQ(waiting_bytes(50001, v6()), 0);
  EXPECT_GT(waiting_bytes(4791, v6()), 0) << "what the check looks at must be able to show it";
}

TEST_P(UdpLinkTest, KnowsTheMtuAndReportsWhatItCut) {
  if (!network()) GTEST_SKIP() << *OwnNetwork::unavailable();
  network()->set_mtu(1500);
  const auto a = open(first());
  const auto b = open(second());
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->max_bytes(), v6() ? 1452U : 1472U);
  const Bytes longest = pattern(a->max_bytes());
  ASSERT_TRUE(send_one(*a, longest, meta(first(), second(), 50001)));
  const auto whole = collect(*b, 1);
  ASSERT_EQ(whole.size(), 1U);
  EXPECT_EQ(whole[0].bytes, longest);
  // A socket that may fragment can send more than a RoCE packet has.
  const PlainSocket stranger(first());
  ASSERT_TRUE(stranger.send_to(second(), 4791, pattern(12000)));
  const auto cut = collect(*b, 1);
  ASSERT_EQ(cut.size(), 1U);
  EXPECT_EQ(cut[0].frame.wire_length, 12000U);
  EXPECT_EQ(cut[0].bytes.size(), 9216U);
  const Bytes whole_pattern = pattern(12000);
  EXPECT_TRUE(std::equal(cut[0].bytes.begin(), cut[0].bytes.end(), whole_pattern.begin()));
  network()->set_mtu(1300);
  EXPECT_TRUE(send_one(*a, longest, meta(first(), second(), 50001))) << "lost, as on a wire";
  EXPECT_EQ(a->counters().send_errors, 1U);
}

TEST_P(UdpLinkTest, KeepsToOneInterface) {
  const auto a = UdpLink::open({.local = first(), .interface = "lo", .only_interface = true});
  ASSERT_TRUE(a) << a.error().message;
  ASSERT_TRUE(send_one(**a, pattern(10), meta(first(), first(), 50001)));
  EXPECT_EQ(collect(**a, 1).size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Family, UdpLinkTest, ::testing::Values("v4", "v6"),
                         [](const auto& row) { return std::string(row.param); });

TEST(UdpLinkInterfaces, TellsThemApart) {
  if (OwnNetwork::unavailable()) GTEST_SKIP() << *OwnNetwork::unavailable();
  const OwnNetwork network;
  network.ip("link add one0 type veth peer name two0");
  network.ip("link set one0 mtu 1400");
  network.ip("address add 10.1.1.1/24 dev one0");
  network.ip("link set one0 up");
  const auto wrong = UdpLink::open({.local = address("10.1.1.1"), .interface = "lo"});
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, AllOf(HasSubstr("lo does not have the address 10.1.1.1"), HasSubstr("127.0.0.1"),
                                           HasSubstr("one0 has the one you named")));
  const auto none = UdpLink::open({.local = address("10.1.1.1"), .interface = "two0"});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("it has none"));
  for (const char* interface : {"", "one0"}) {
    const auto link = UdpLink::open({.local = address("10.1.1.1"), .interface = interface});
    ASSERT_TRUE(link) << link.error().message;
    EXPECT_EQ((*link)->max_bytes(), 1372U);
  }
  const auto link = UdpLink::open({.local = address("10.1.1.1")});
  ASSERT_TRUE(link) << link.error().message;
  EXPECT_TRUE((*link)->check());
  network.ip("link delete one0");
  const auto gone = (*link)->check();
  ASSERT_FALSE(gone);
  EXPECT_THAT(gone.error().message, AllOf(HasSubstr("10.1.1.1"), HasSubstr("start again")));
}

struct Refusal {
  std::string name;
  std::string local;
  std::string interface;
  std::vector<std::string> says;
};

void PrintTo(const Refusal& refusal, std::ostream* out) {
  *out << refusal.name;
}

class UdpLinkRefusalTest : public ::testing::TestWithParam<Refusal> {};

TEST_P(UdpLinkRefusalTest, SaysWhatToDo) {
  if (OwnNetwork::unavailable()) GTEST_SKIP() << *OwnNetwork::unavailable();
  const OwnNetwork network;
  if (!network.has_v6() && GetParam().local.find(':') != std::string::npos) GTEST_SKIP() << "no IPv6 here";
  const auto before = open_files();
  const auto link = UdpLink::open({.local = address(GetParam().local), .interface = GetParam().interface});
  ASSERT_FALSE(link);
  for (const std::string& part : GetParam().says) EXPECT_THAT(link.error().message, HasSubstr(part));
  EXPECT_FALSE(link.error().no_permission);
  EXPECT_EQ(open_files(), before);
}

INSTANTIATE_TEST_SUITE_P(
    Of, UdpLinkRefusalTest,
    ::testing::Values(
        Refusal{"ForeignV4", "192.0.2.77", "", {"192.0.2.77", "no interface of this machine has", "ip address"}},
        Refusal{"ForeignV6", "2001:db8::77", "", {"2001:db8::77", "no interface of this machine has", "ip address"}},
        Refusal{"UnknownInterface", "127.0.0.1", "nosuch0", {"\"nosuch0\"", "ip link"}},
        Refusal{"TooLongInterface", "127.0.0.1", std::string(300, 'x'), {"there is no interface", "ip link"}},
        Refusal{"NotOnInterface", "10.0.0.1", "lo", {"interface lo does not have", "10.0.0.1", "127.0.0.1"}},
        Refusal{"AnyV4", "0.0.0.0", "", {"0.0.0.0", "not the address of one machine"}},
        Refusal{"AnyV6", "::", "", {"::", "not the address of one machine"}},
        Refusal{"GroupV4", "224.0.0.1", "", {"224.0.0.1", "not the address of one machine"}},
        Refusal{"GroupV6", "ff02::1", "", {"ff02::1", "not the address of one machine"}},
        Refusal{"LinkLocal", "fe80::1", "", {"fe80::1", "name the interface"}}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace roce::link::test
