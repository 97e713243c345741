// SPDX-License-Identifier: BSD-2-Clause
// Frames whose headers in front of the BTH no RNIC accepts, although their ICRC is right: it covers neither Ethernet
// addresses nor the IPv4 checksum.
#include <gmock/gmock.h>

#include "forger.h"
#include "roce/wire/checksum.h"
#include "roce/wire/frame_seal.h"
#include "roce/wire/ipv6.h"
#include "roce/wire/tunnel.h"
#include "sim/profiles.h"

namespace roce::sim {
namespace {

using testing::SizeIs;
using transport::Counters;
using transport::QpType;

constexpr std::uint32_t kPsn = 0x100;
constexpr std::size_t kNetwork = kSize<Ethernet>;
constexpr MacAddress kGroupMac{{0x01, 0x00, 0x5E, 1, 2, 3}};

Frame to_mac(Frame frame, const MacAddress& mac) {
  FieldOf<&Ethernet::destination>::set(frame.data(), mac);
  return frame;
}

/// Returns the frame after `change` was applied to its bytes, with all check values right for the new bytes.
template <typename Change>
Frame sealed(Frame frame, const Change& change) {
  const Frame before = frame;
  const FrameSeal seal{parse_frame(before, LinkType::ethernet)};
  change(frame);
  seal.renew(parse_frame(frame, LinkType::ethernet), frame, WrongCheck::repair, WrongCheck::repair);
  return frame;
}

Frame with_ipv4_option(const Frame& from) {
  return sealed(from, [](Frame& frame) {
    constexpr std::size_t words = 6;
    const auto end = frame.begin() + static_cast<std::ptrdiff_t>(kNetwork + kSize<Ipv4>);
    frame.insert(end, 4, std::byte{1});  // no-operations
    std::byte* ip = frame.data() + kNetwork;
    FieldOf<&Ipv4::header_length>::set(ip, words);
    FieldOf<&Ipv4::total_length>::set(ip, static_cast<std::uint16_t>(frame.size() - kNetwork));
  });
}

Frame with_hop_by_hop_options(const Frame& from) {
  return sealed(from, [](Frame& frame) {
    std::byte* ip = frame.data() + kNetwork;
    FieldOf<&Ipv6::payload_length>::set(ip, static_cast<std::uint16_t>(FieldOf<&Ipv6::payload_length>::get(ip) + 8U));
    FieldOf<&Ipv6::next_header>::set(ip, IpProtocol::hop_by_hop);
    // There is one option, for padding.
    const std::array<std::byte, 8> extension{std::byte{17}, std::byte{0}, std::byte{1}, std::byte{4}};
    frame.insert(frame.begin() + static_cast<std::ptrdiff_t>(kNetwork + kSize<Ipv6>), extension.begin(),
                 extension.end());
  });
}

Frame in_vxlan(const Frame& inner, const Host& from, const Host& to) {
  Frame frame(kSize<Ethernet> + kSize<Ipv4> + kSize<Udp> + kSize<Vxlan>);
  std::byte* at = frame.data();
  write(Ethernet{to.mac(), from.mac(), EtherType::ipv4}, at);
  const auto udp_length = static_cast<std::uint16_t>(kSize<Udp> + kSize<Vxlan> + inner.size());
  Ipv4 ip{.total_length = static_cast<std::uint16_t>(kSize<Ipv4> + udp_length),
          .source = from.gid().ipv4(),
          .destination = to.gid().ipv4()};
  write(ip, at + kNetwork);
  ip.checksum = ipv4_checksum({at + kNetwork, kSize<Ipv4>});
  write(ip, at + kNetwork);
  write(Udp{.destination_port = kVxlanPort, .length = udp_length}, at + kNetwork + kSize<Ipv4>);
  write(Vxlan{}, at + kNetwork + kSize<Ipv4> + kSize<Udp>);
  frame.insert(frame.end(), inner.begin(), inner.end());
  return frame;
}

class HeaderScenario : public ScenarioTest {
 protected:
  /// Returns a WRITE of 16 bytes that A might have sent.
  [[nodiscard]] Frame write_frame() const {
    return forger_.make(Opcode::rc_write_only, kPsn,
                        {{"reth.va", forger_.address(0)},
                         {"reth.r_key", forger_.key()},
                         {"reth.dma_length", "16"},
                         {"payload_length", "16"}});
  }
  [[nodiscard]] Counters receive(const Frame& frame) {
    const Counters before = pair_.b.device().counters();
    pair_.network.inject(pair_.a_host.node(), frame);
    EXPECT_TRUE(pair_.network.run_until_idle());
    Counters after = pair_.b.device().counters();
    for (const transport::CounterName& name : transport::counter_names()) after.*name.member -= before.*name.member;
    return after;
  }
  void expect_dropped(const Frame& frame, std::uint64_t Counters::*counter, const char* what) {
    SCOPED_TRACE(what);
    Counters expected{};
    expected.*counter = 1;
    EXPECT_EQ(receive(frame), expected) << "counted once, and nothing else happened";
  }

  Pair pair_{Pair::with(profile())};
  Forger forger_{pair_.a, pair_.b};
};

TEST_P(HeaderScenario, OfAnotherPortAreDropped) {
  expect_dropped(to_mac(write_frame(), {{2, 0, 0, 0, 0, 0x77}}), &Counters::wrong_mac, "another host");
  expect_dropped(to_mac(write_frame(), {{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}}), &Counters::wrong_mac, "broadcast");
  expect_dropped(to_mac(write_frame(), kGroupMac), &Counters::wrong_mac, "a group");
  EXPECT_EQ(receive(write_frame()).write_requests, 1U) << "the frame itself is right";
}

TEST_P(HeaderScenario, OfAGroupAreTakenOnlyForThatGroup) {
  const Gid group = Gid::from_ipv4({{239, 1, 2, 3}});
  Endpoint member{pair_.b_host, {.type = QpType::ud}};
  start(member);
  member.post_receive(0, 100);
  const Frame datagram = forger_.make(Opcode::ud_send_only, 0,
                                      {{"eth.dst", to_string(kGroupMac)},
                                       {"ip.dst", "239.1.2.3"},
                                       {"bth.dest_qp", "0xffffff"},
                                       {"deth.q_key", std::to_string(kQKey.value())},
                                       {"payload_length", "16"}});
  expect_dropped(datagram, &Counters::wrong_mac, "nobody here is in the group");
  must(member.device().attach_multicast(member.qpn(), group));
  EXPECT_EQ(receive(datagram).received_packets, 1U);
  EXPECT_THAT(member.received(), SizeIs(1));
  expect_dropped(to_mac(write_frame(), kGroupMac), &Counters::wrong_mac, "a connection's packet to a group's address");
  expect_dropped(to_mac(datagram, {{0x01, 0x00, 0x5E, 1, 2, 4}}), &Counters::wrong_mac, "another group's address");
}

TEST_P(HeaderScenario, WithAWrongIpv4ChecksumAreDropped) {
  Frame frame = write_frame();
  frame[kNetwork + FieldOf<&Ipv4::checksum>::kFirstByte] ^= std::byte{1};
  expect_dropped(frame, &Counters::ip_checksum_errors, "wrong");
  FieldOf<&Ipv4::ttl>::set(frame.data() + kNetwork, 9);
  expect_dropped(frame, &Counters::ip_checksum_errors, "of another TTL");
  const Frame routed =
      sealed(write_frame(), [](Frame& bytes) { FieldOf<&Ipv4::ttl>::set(bytes.data() + kNetwork, 9); });
  EXPECT_EQ(receive(routed).write_requests, 1U) << "as a router sends it on";
}

TEST_P(HeaderScenario, WithIpv4OptionsAreDropped) {
  expect_dropped(with_ipv4_option(write_frame()), &Counters::ip_options, "a no-operation");
}

TEST_P(HeaderScenario, WithIpv6ExtensionHeadersAreDropped) {
  Pair::Options options = Pair::with(profile());
  options.connection.path.version = RoceVersion::v2_ipv6;
  Pair pair{options};
  pair.network.keep_trace(Tap::sent);
  pair.a.post({.opcode = transport::WorkOpcode::write, .length = 16});
  ASSERT_TRUE(pair.network.run_until_idle());
  const Frame frame = pair.network.trace().front().bytes;
  EXPECT_TRUE(pair.b.device().admits(parse_frame(frame, LinkType::ethernet)));
  const Frame changed = with_hop_by_hop_options(frame);
  EXPECT_FALSE(pair.b.device().admits(parse_frame(changed, LinkType::ethernet)));
  EXPECT_EQ(pair.b.device().counters().ip_options, 1U);
}

TEST_P(HeaderScenario, WithALengthOfNothingAreDropped) {
  const Frame no_udp_length =
      sealed(write_frame(), [](Frame& frame) { FieldOf<&Udp::length>::set(frame.data() + kNetwork + kSize<Ipv4>, 0); });
  expect_dropped(no_udp_length, &Counters::malformed, "UDP");
  const Frame no_ip_length =
      sealed(write_frame(), [](Frame& frame) { FieldOf<&Ipv4::total_length>::set(frame.data() + kNetwork, 0); });
  expect_dropped(no_ip_length, &Counters::malformed, "IPv4");
}

TEST_P(HeaderScenario, InATunnelAreDropped) {
  expect_dropped(in_vxlan(write_frame(), pair_.a_host, pair_.b_host), &Counters::malformed, "VXLAN");
}

ROCE_UNDER_EACH_PROFILE(HeaderScenario);

}  // namespace
}  // namespace roce::sim
