// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/icrc.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "support/frame_stack.h"
#include "support/hex.h"
#include "support/vectors.h"

namespace roce {
namespace {

using test::Carrier;
using test::FrameStack;

HeaderId header_of(test::NetworkKind network) {
  switch (network) {
    case test::NetworkKind::grh:
      return HeaderId::grh;
    case test::NetworkKind::ipv4:
      return HeaderId::ipv4;
    case test::NetworkKind::ipv6:
      return HeaderId::ipv6;
  }
  return HeaderId::none;
}

/// Returns an Ethernet frame with a random transport packet: a BTH, with an opcode that has no
/// further headers, and `payload_size` more bytes.
FrameStack make_frame(const Carrier& carrier, std::size_t payload_size, std::mt19937& random,
                      const std::set<IcrcMistake>& mistakes = {}) {
  FrameStack stack{random};
  auto bth = test::random_header<Bth>(random);
  bth.opcode = Opcode::rc_send_only;
  bth.pad_count = static_cast<std::uint8_t>(payload_size % 4);
  stack.put(bth).payload(test::random_bytes(payload_size - bth.pad_count, random), bth.pad_count);
  carrier.wrap(stack);
  stack.seal(carrier.network, mistakes).ethernet(carrier.ether_type);
  return stack;
}

/// Makes a NetMeta by hand from the headers in front of the BTH.
NetMeta meta_of(const FrameStack& stack, const Carrier& carrier, Bytes frame) {
  NetMeta net;
  net.version = carrier.version;
  const std::byte* network = frame.data() + stack.network_offset();
  if (carrier.network == test::NetworkKind::ipv4) {
    const auto ip = read<Ipv4>(network);
    net.source = Gid::from_ipv4(ip.source);
    net.destination = Gid::from_ipv4(ip.destination);
    net.traffic_class = std::to_integer<std::uint8_t>(network[1]);
    net.hop_limit = ip.ttl;
    net.ip_id = ip.identification;
    net.dont_fragment = ip.dont_fragment;
  } else {
    const auto ip = read<Ipv6>(network);
    net.source = ip.source;
    net.destination = ip.destination;
    net.traffic_class = static_cast<std::uint8_t>(ip.dscp << 2 | ip.ecn);
    net.hop_limit = ip.hop_limit;
  }
  if (carrier.network != test::NetworkKind::grh) {
    net.udp_source_port = read<Udp>(frame.data() + stack.bth_offset() - kSize<Udp>).source_port;
  }
  return net;
}

TEST(Icrc, Crc32IsThatOfZlib) {
  std::mt19937 random(1);
  for (std::size_t size = 0; size < 600; ++size) {
    const auto room = test::random_bytes(size + 1, random);
    const Bytes bytes = Bytes{room}.first(size);
    const auto* data = reinterpret_cast<const Bytef*>(bytes.data());
    const auto start = static_cast<std::uint32_t>(random());
    EXPECT_EQ(crc32(0, bytes), ::crc32(0, data, static_cast<uInt>(size))) << size;
    EXPECT_EQ(crc32(start, bytes), ::crc32(start, data, static_cast<uInt>(size))) << size;
    const std::size_t cut = size == 0 ? 0 : random() % size;
    EXPECT_EQ(crc32(crc32(0, bytes.first(cut)), bytes.subspan(cut)), crc32(0, bytes)) << size;
  }
}

class IcrcOfCarrier : public testing::TestWithParam<Carrier> {};

TEST_P(IcrcOfCarrier, AgreesWithTheSpecificationBitByBit) {
  std::mt19937 random(2);
  std::vector<std::size_t> sizes(301);
  for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] = i;
  sizes.insert(sizes.end(), {1024, 1499, 4096, 9001, 65'000});
  for (const std::size_t size : sizes) {
    SCOPED_TRACE(size);
    FrameStack stack = make_frame(GetParam(), size, random);
    const Bytes frame{stack.bytes()};
    const Bytes covered = frame.subspan(stack.network_offset(), frame.size() - 4 - stack.network_offset());
    const std::size_t bth_offset = stack.bth_offset() - stack.network_offset();
    const std::uint32_t expected = test::reference_icrc(covered, GetParam().network, bth_offset);
    ASSERT_EQ(compute_icrc(covered, header_of(GetParam().network), bth_offset), expected);

    const IcrcVerdict verdict = check_icrc(parse_frame(frame, LinkType::ethernet));
    ASSERT_EQ(verdict, (IcrcVerdict{IcrcStatus::good, IcrcUnchecked::none, 0, expected, expected}));

    stack.bytes()[frame.size() - 4 + random() % 4] ^= static_cast<std::byte>(1 << random() % 8);
    ASSERT_EQ(check_icrc(parse_frame(frame, LinkType::ethernet)).status, IcrcStatus::bad);
  }
}

INSTANTIATE_TEST_SUITE_P(All, IcrcOfCarrier, testing::ValuesIn(test::kCarriers),
                         [](const auto& carrier) { return std::string{carrier.param.name}; });

class IcrcOfTransport : public testing::TestWithParam<Carrier> {};

TEST_P(IcrcOfTransport, NeedsOnlyTheNetMeta) {
  std::mt19937 random(3);
  for (std::size_t size = 0; size < 200; ++size) {
    SCOPED_TRACE(size);
    FrameStack stack = make_frame(GetParam(), size, random);
    if (GetParam().network == test::NetworkKind::ipv4) {
      // A NetMeta has no place for the reserved flag.
      auto& flags = stack.bytes()[stack.network_offset() + 6];
      flags &= std::byte{0x7F};
      const Bytes covered{stack.bytes().data() + stack.network_offset(), stack.size() - 4 - stack.network_offset()};
      stack.store(test::reference_icrc(covered, GetParam().network, stack.bth_offset() - stack.network_offset()));
    }
    const Bytes frame{stack.bytes()};
    const Bytes transport = frame.subspan(stack.bth_offset());
    const NetMeta net = meta_of(stack, GetParam(), frame);
    EXPECT_EQ(parse_frame(frame, LinkType::ethernet).net(), net);

    const IcrcVerdict expected = check_icrc(parse_frame(frame, LinkType::ethernet));
    ASSERT_EQ(expected.status, IcrcStatus::good);
    EXPECT_EQ(check_icrc(parse_transport(transport, net)), expected);
    EXPECT_EQ(compute_icrc(transport.first(transport.size() - 4), net), expected.stored);

    // Fields that the ICRC does not cover may be unknown.
    NetMeta masked = net;
    masked.traffic_class = 0;
    masked.hop_limit = 0;
    EXPECT_EQ(check_icrc(parse_transport(transport, masked)), expected);

    if (net.version == RoceVersion::v2_ipv4) {
      NetMeta hidden = net;
      hidden.ip_id.reset();
      const IcrcVerdict verdict = check_icrc(parse_transport(transport, hidden));
      EXPECT_EQ(verdict.status, IcrcStatus::good_for_ip_id);
      EXPECT_EQ(verdict.ip_id, *net.ip_id);
      std::vector<std::byte> damaged{transport.begin(), transport.end()};
      damaged[8] ^= std::byte{0x10};
      EXPECT_EQ(check_icrc(parse_transport(damaged, hidden)).status, IcrcStatus::bad);
    }

    NetMeta other = net;
    other.source.octets[13] ^= 1;
    EXPECT_EQ(check_icrc(parse_transport(transport, other)).status, IcrcStatus::bad);
  }
}

INSTANTIATE_TEST_SUITE_P(All, IcrcOfTransport,
                         testing::Values(test::kCarriers[0], test::kCarriers[1], test::kCarriers[3]),
                         [](const auto& carrier) { return std::string{carrier.param.name}; });

/// Returns the verdict about a packet behind an IPv4 header of which a socket shows neither identification nor flags.
IcrcVerdict verdict_behind_socket(Ipv4 ip, std::mt19937& random) {
  const Carrier& ipv4 = test::kCarriers[1];
  FrameStack stack{random};
  Bth bth;
  bth.opcode = Opcode::rc_send_only;
  stack.put(bth).payload(test::random_bytes(4, random)).udp();
  ip.total_length = static_cast<std::uint16_t>(stack.size() + kSize<Ipv4>);
  stack.wrap(ip);
  stack.seal(ipv4.network);
  const Bytes frame{stack.bytes()};
  NetMeta net = meta_of(stack, ipv4, frame);
  net.ip_id.reset();
  net.dont_fragment = NetMeta{}.dont_fragment;
  return check_icrc(parse_transport(frame.subspan(stack.bth_offset()), net));
}

TEST(Icrc, AnyHiddenIpIdIsFoundWithDfAndWithout) {
  std::mt19937 random(4);
  for (const bool dont_fragment : {true, false}) {
    for (unsigned id = 0; id < 0x1'0000; id += id < 0x200 ? 1 : 251) {
      Ipv4 ip;
      ip.identification = static_cast<std::uint16_t>(id);
      ip.dont_fragment = dont_fragment;
      const IcrcVerdict verdict = verdict_behind_socket(ip, random);
      ASSERT_EQ(verdict.status, IcrcStatus::good_for_ip_id) << id;
      ASSERT_EQ(verdict.ip_id, id);
    }
  }
}

TEST(Icrc, OtherFlagsThanDfAreNotHidden) {
  std::mt19937 random(5);
  Ipv4 ip;
  ip.dont_fragment = true;
  ip.reserved_flag = true;
  EXPECT_EQ(verdict_behind_socket(ip, random).status, IcrcStatus::bad);
}

TEST(Icrc, VerdictsHaveText) {
  EXPECT_EQ(to_string(IcrcVerdict{.status = IcrcStatus::good}), "good");
  EXPECT_EQ(to_string(IcrcVerdict{.status = IcrcStatus::bad}), "bad");
  const auto unchecked = [](IcrcUnchecked reason) { return to_string(IcrcVerdict{.reason = reason}); };
  EXPECT_EQ(unchecked(IcrcUnchecked::cut_short), "not checked (cut short)");
  EXPECT_EQ(unchecked(IcrcUnchecked::not_roce), "not checked (not RoCE)");
  EXPECT_EQ(unchecked(IcrcUnchecked::fragmented), "not checked (IP fragment)");
  EXPECT_EQ(unchecked(IcrcUnchecked::malformed), "not checked (malformed)");
  EXPECT_EQ(to_string(IcrcVerdict{.status = IcrcStatus::good_for_ip_id, .ip_id = 0x123}), "good for IP ID 0x0123");
}

class IcrcCoverage : public testing::TestWithParam<test::Vector> {};

/// Returns the bits of a byte of a vector that the ICRC does not cover, written down from the specification.
unsigned uncovered_bits(std::size_t offset, const Packet& packet) {
  const std::size_t network = packet.network_offset();
  const std::size_t bth = packet.bth_offset();
  if (offset < network) return 0xFF;
  const std::size_t at = offset - network;
  if (offset == bth + 4) return 0xFF;
  if (packet.version() == RoceVersion::v2_ipv4) {
    return at == 1 || at == 8 || at == 10 || at == 11 || at == 26 || at == 27 ? 0xFF : 0;
  }
  if (packet.version() == RoceVersion::v2_ipv6 && (at == 46 || at == 47)) return 0xFF;
  return at == 0 ? 0x0F : at == 1 || at == 2 || at == 3 || at == 7 ? 0xFF : 0;
}

TEST_P(IcrcCoverage, EachCoveredBitCountsAndNoOther) {
  const auto frame = test::from_hex(GetParam().hex);
  const Packet packet = parse_frame(frame, LinkType::ethernet);
  ASSERT_EQ(check_icrc(packet).status, IcrcStatus::good);
  const std::size_t start = packet.network_offset();
  const std::size_t bth_offset = packet.bth_offset() - start;
  std::size_t uncovered = 0;
  for (std::size_t offset = 0; offset + 4 < frame.size(); ++offset) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      auto changed = frame;
      changed[offset] ^= static_cast<std::byte>(1U << bit);
      const bool covered = (uncovered_bits(offset, packet) >> bit & 1) == 0;
      uncovered += covered ? 0 : 1;
      // This does not parse the packet, since a changed length or version makes another one.
      const std::uint32_t icrc =
          compute_icrc(Bytes{changed}.subspan(start, frame.size() - 4 - start), packet.network_header(), bth_offset);
      ASSERT_EQ(icrc != packet.stored_icrc(), covered) << "byte " << offset << " bit " << bit;
      const IcrcStatus status = check_icrc(parse_frame(changed, LinkType::ethernet)).status;
      if (covered) {
        ASSERT_NE(status, IcrcStatus::good) << "byte " << offset << " bit " << bit;
      } else if (offset >= start) {
        ASSERT_EQ(status, IcrcStatus::good) << "byte " << offset << " bit " << bit;
      }
    }
  }
  const std::size_t masked_bytes = packet.version() == RoceVersion::v2_ipv4   ? 7
                                   : packet.version() == RoceVersion::v2_ipv6 ? 7
                                                                              : 5;
  const std::size_t half_byte = packet.version() == RoceVersion::v2_ipv4 ? 0 : 4;
  EXPECT_EQ(uncovered, (start + masked_bytes) * 8 + half_byte);
}

INSTANTIATE_TEST_SUITE_P(Vectors, IcrcCoverage, testing::ValuesIn(test::kVectors),
                         [](const auto& vector) { return std::string{vector.param.name}; });

}  // namespace
}  // namespace roce
