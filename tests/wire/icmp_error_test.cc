// SPDX-License-Identifier: BSD-2-Clause
// Errors that Linux sent about RoCE packets, as they were on the wire.
#include "roce/wire/icmp_error.h"

#include <gtest/gtest.h>

#include <string>

#include "support/hex.h"

namespace roce {
namespace {

using roce::test::from_hex;

// The host 10.2.0.2 about a SEND from 10.1.0.2 that nobody takes at its UDP port. Linux quotes all of it.
const std::string kPortUnreachable =
    "da9490ebf2238ac6683ae70b080045c000882dea00003f0138c50a0200020a01000203035a33000000004500006c000140003f11277a0a0100"
    "02"
    "0a020002c00012b7005800000440ffff000000998000000700000000000000000000000000000000";
// The first bytes of what the router 10.1.0.1 says of one with 2,048 bytes; it has 590.
const std::string kTooBig =
    "da9490ebf2238ac6683ae70b080045c0024049fb0000400119fe0a0100010a0100020304976f000005dc4500082c0001400040111eba0a0100"
    "02"
    "0a020002c00012b7081800000440ffff0000009980000007";
constexpr std::uint32_t kTooBigLength = 590;
// The same over IPv6, of 1,294 bytes.
const std::string kTooBigIpv6 =
    "da9490ebf2238ac6683ae70b86dd60058c7d04d83a4020010db800010000000000000000000120010db80001000000000000000000020200"
    "6318000005dc600000000818114020010db800010000000000000000000220010db8000200000000000000000002c00012b708180000"
    "0440ffff0000009980000007";
constexpr std::uint32_t kTooBigIpv6Length = 1294;
// An error like the first, to its end.
const std::string kWhole =
    "da9490ebf2238ac6683ae70b080045c000882e2800003f0138870a0200020a01000203035a33000000004500006c000140003f11277a0a01"
    "00020a020002c00012b7005800000440ffff0000009980000007000000000000000000000000000000000000000000000000000000000000"
    "000000000000000000000000000000000000000000000000000000000000000000006b18dfc0";
constexpr std::size_t kMessage = 34;  // offset of the ICMP message in a frame

std::optional<IcmpError> error_in(const std::vector<std::byte>& frame, std::uint32_t length = 0) {
  return read_icmp_error(parse_frame(frame, LinkType::ethernet, length));
}

Gid ipv4(std::uint8_t b, std::uint8_t d) {
  return Gid::from_ipv4({{10, b, 0, d}});
}

TEST(IcmpErrors, NameThePacketAndWhoSaysIt) {
  // A snap length cut off the end.
  const auto error = error_in(from_hex(kPortUnreachable), 150);
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->why, Undelivered::port_unreachable);
  EXPECT_EQ(error->reporter, ipv4(2, 2));
  EXPECT_EQ(error->source, ipv4(1, 2));
  EXPECT_EQ(error->destination, ipv4(2, 2));
  EXPECT_EQ(error->size, 108U);
  EXPECT_EQ(error->udp_source_port, 0xC000);
  ASSERT_TRUE(error->bth.has_value());
  EXPECT_EQ(error->bth->dest_qp, Qpn{0x99});
  EXPECT_EQ(error->bth->psn, Psn{7});
}

TEST(IcmpErrors, NameTheMtu) {
  const auto error = error_in(from_hex(kTooBig), kTooBigLength);
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->why, Undelivered::too_big);
  EXPECT_EQ(error->reporter, ipv4(1, 1));
  EXPECT_EQ(error->mtu, 1500U);
  EXPECT_EQ(error->size, 2092U);
  const auto over_ipv6 = error_in(from_hex(kTooBigIpv6), kTooBigIpv6Length);
  ASSERT_TRUE(over_ipv6.has_value());
  EXPECT_EQ(over_ipv6->why, Undelivered::too_big);
  EXPECT_EQ(over_ipv6->mtu, 1500U);
  EXPECT_EQ(over_ipv6->size, 2112U);
  EXPECT_EQ(over_ipv6->bth->dest_qp, Qpn{0x99});
}

TEST(IcmpErrors, NameASourceThatHoldsOnItsLinkOnly) {
  auto frame = from_hex(kTooBigIpv6);
  constexpr std::size_t kMessageIpv6 = 54;
  frame[kMessageIpv6] = std::byte{1};
  frame[kMessageIpv6 + 1] = std::byte{2};
  const auto error = error_in(frame, kTooBigIpv6Length);
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->why, Undelivered::beyond_scope);
  EXPECT_EQ(error->mtu, 0U);
  frame[kMessageIpv6 + 1] = std::byte{7};
  EXPECT_FALSE(error_in(frame, kTooBigIpv6Length).has_value()) << "an error in a source route";
}

TEST(IcmpErrors, NeedNoMoreThanTheUdpHeader) {
  auto frame = from_hex(kTooBig);
  frame.resize(kMessage + 8 + 20 + 8);
  const auto error = error_in(frame, kTooBigLength);
  ASSERT_TRUE(error.has_value());
  EXPECT_FALSE(error->bth.has_value());
  for (std::size_t size = frame.size(); size-- > 0;) {
    frame.resize(size);
    EXPECT_FALSE(error_in(frame, kTooBigLength).has_value()) << size;
  }
}

TEST(IcmpErrors, AreThoseAboutRoceAlone) {
  auto frame = from_hex(kTooBig);
  frame[kMessage + 8 + 20 + 3] = std::byte{0xB8};
  EXPECT_FALSE(error_in(frame, kTooBigLength).has_value()) << "another UDP port";
  frame = from_hex(kTooBig);
  frame[kMessage] = std::byte{5};
  EXPECT_FALSE(error_in(frame, kTooBigLength).has_value()) << "a redirect is not an error";
  frame[kMessage] = std::byte{3};
  frame[kMessage + 1] = std::byte{2};
  EXPECT_FALSE(error_in(frame, kTooBigLength).has_value()) << "protocol unreachable";
}

TEST(IcmpErrors, AreNotReadIfTheirChecksumIsWrong) {
  // Whole: the rest of the packet that is quoted is zeros, and its ICRC.
  auto frame = from_hex(kWhole);
  EXPECT_TRUE(error_in(frame).has_value());
  frame[kMessage + 2] ^= std::byte{1};
  EXPECT_FALSE(error_in(frame).has_value());
}

}  // namespace
}  // namespace roce
