// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/types.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "roce/wire/fields.h"
#include "roce/wire/ipv6.h"
#include "support/hex.h"

namespace roce {
namespace {

TEST(Psn, CountsModulo24Bits) {
  constexpr Psn last{0xFF'FFFF};
  EXPECT_EQ(last + 1, Psn{0});
  EXPECT_EQ(Psn{0} - 1, last);
  EXPECT_EQ(Psn{0xABCDEF} + 0x100'0000, Psn{0xABCDEF});
  EXPECT_EQ(Psn{0x1FF'FFFF}, last);
  EXPECT_EQ((last + 2).value(), 1U);
  Psn psn = last;
  EXPECT_EQ(++psn, Psn{0});
}

TEST(Psn, IsAheadByLessThanHalfTheRange) {
  EXPECT_EQ(Psn{5}.distance_from(Psn{3}), 2);
  EXPECT_EQ(Psn{3}.distance_from(Psn{5}), -2);
  EXPECT_EQ(Psn{1}.distance_from(Psn{0xFF'FFFF}), 2);
  EXPECT_EQ(Psn{0xFF'FFFF}.distance_from(Psn{1}), -2);
  EXPECT_EQ(Psn{0x7F'FFFF}.distance_from(Psn{0}), 0x7F'FFFF);
  EXPECT_EQ(Psn{0x80'0000}.distance_from(Psn{0}), -0x80'0000);
  EXPECT_EQ(Psn{0}.distance_from(Psn{0x80'0000}), -0x80'0000);

  EXPECT_TRUE(Psn{0}.newer_than(Psn{0xFF'FFFF}));
  EXPECT_FALSE(Psn{0xFF'FFFF}.newer_than(Psn{0}));
  EXPECT_FALSE(Psn{7}.newer_than(Psn{7}));
  EXPECT_TRUE(Psn{0x7F'FFFF}.newer_than(Psn{0}));
  EXPECT_FALSE(Psn{0x80'0000}.newer_than(Psn{0}));
}

TEST(Psn, DistanceUndoesAddition) {
  std::mt19937 random(30);
  for (int i = 0; i < 10'000; ++i) {
    const Psn start{static_cast<std::uint32_t>(random())};
    const auto steps = static_cast<std::int32_t>(random() % 0x100'0000) - 0x80'0000;
    const Psn there =
        steps < 0 ? start - static_cast<std::uint32_t>(-steps) : start + static_cast<std::uint32_t>(steps);
    ASSERT_EQ(there.distance_from(start), steps);
    ASSERT_EQ(there.newer_than(start), steps > 0);
  }
}

TEST(StrongInt, KeepsItsBits) {
  EXPECT_EQ(Qpn{0xFF00'0011}.value(), 0x11U);
  EXPECT_EQ(RKey{0xFFFF'FFFF}.value(), 0xFFFF'FFFFU);
  EXPECT_EQ(XrcSrqn{0x0100'0000}.value(), 0U);
  static_assert(!std::is_convertible_v<Qpn, Psn> && !std::is_convertible_v<RKey, LKey>);
  static_assert(!std::is_convertible_v<std::uint32_t, Qpn>);
}

TEST(PKey, SplitsIntoMembershipAndPartition) {
  EXPECT_TRUE(kDefaultPKey.is_full_member());
  EXPECT_EQ(kDefaultPKey.partition(), 0x7FFF);
  EXPECT_FALSE(PKey{0x7FFF}.is_full_member());
  EXPECT_EQ(PKey{0x8001}.partition(), 1);
}

Gid gid_of(std::string_view hex) {
  Gid gid;
  const auto bytes = test::from_hex(hex);
  std::ranges::transform(bytes, gid.octets.begin(), [](std::byte b) { return std::to_integer<std::uint8_t>(b); });
  return gid;
}

TEST(Text, OfAddresses) {
  EXPECT_EQ(to_string(MacAddress{{0x02, 0, 0, 0, 0xAB, 1}}), "02:00:00:00:ab:01");
  EXPECT_EQ(to_string(Ipv4Address{{192, 0, 2, 1}}), "192.0.2.1");
  EXPECT_EQ(to_string(Ipv4Address{}), "0.0.0.0");
}

// RFC 5952, section 4.
TEST(Text, OfGidsIsTheShortestForm) {
  EXPECT_EQ(to_string(gid_of("20010db8000000000000000000000001")), "2001:db8::1");
  EXPECT_EQ(to_string(gid_of("20010db8000000010001000100010001")), "2001:db8:0:1:1:1:1:1");
  EXPECT_EQ(to_string(gid_of("20010000000000010000000000000001")), "2001:0:0:1::1");
  EXPECT_EQ(to_string(gid_of("20010db8000000000001000000000001")), "2001:db8::1:0:0:1");
  EXPECT_EQ(to_string(gid_of("00000000000000000000000000000000")), "::");
  EXPECT_EQ(to_string(gid_of("00000000000000000000000000000001")), "::1");
  EXPECT_EQ(to_string(gid_of("fe800000000000000000000000000000")), "fe80::");
  EXPECT_EQ(to_string(gid_of("20010db8aaaabbbbccccddddeeee0abc")), "2001:db8:aaaa:bbbb:cccc:dddd:eeee:abc");
  EXPECT_EQ(to_string(gid_of("00000000000000000000ffffc0000201")), "192.0.2.1");
  EXPECT_EQ(to_string(gid_of("0000000100020003000400050006ffff")), "0:1:2:3:4:5:6:ffff");
}

TEST(Text, OfGidsAgreesWithTheSystem) {
  std::mt19937 random(31);
  const HeaderInfo& ipv6 = *find_header("ipv6");
  const FieldInfo& source = *find_field(ipv6, "src");
  for (int i = 0; i < 5000; ++i) {
    Gid gid;
    for (std::size_t group = 0; group < 8; ++group) {
      // Many zero groups and small ones.
      const unsigned value = random() % 2 == 0 ? 0 : random() % 3 == 0 ? random() % 16 : random() & 0xFFFF;
      gid.octets[2 * group] = static_cast<std::uint8_t>(value >> 8);
      gid.octets[2 * group + 1] = static_cast<std::uint8_t>(value & 0xFF);
    }
    std::array<char, INET6_ADDRSTRLEN> system{};
    ASSERT_NE(inet_ntop(AF_INET6, gid.octets.data(), system.data(), system.size()), nullptr);
    // The C library writes the last four bytes of ::a.b.c.d in dots, which RFC 5952 leaves open.
    if (std::string_view{system.data()}.find('.') == std::string_view::npos) {
      ASSERT_EQ(to_string(gid), system.data());
    }
    std::vector<std::byte> header(kSize<Ipv6>);
    ASSERT_TRUE(set_field_text(source, header, system.data())) << system.data();
    ASSERT_EQ(read<Ipv6>(header.data()).source, gid) << system.data();
    ASSERT_TRUE(set_field_text(source, header, to_string(gid)));
    ASSERT_EQ(read<Ipv6>(header.data()).source, gid) << to_string(gid);
  }
}

TEST(Text, OfGidsIsReadLikeTheSystemReadsIt) {
  const FieldInfo& source = *find_field(*find_header("ipv6"), "src");
  std::mt19937 random(32);
  constexpr std::string_view kLetters = "0123456789abcdef:::::...";
  for (int i = 0; i < 200'000; ++i) {
    std::string text;
    const std::size_t length = random() % 20;
    for (std::size_t k = 0; k < length; ++k) text += kLetters[random() % kLetters.size()];
    Gid expected;
    std::vector<std::byte> header(kSize<Ipv6>);
    const bool taken = set_field_text(source, header, text).has_value();
    if (inet_pton(AF_INET6, text.c_str(), expected.octets.data()) == 1) {
      ASSERT_TRUE(taken) << text;
      ASSERT_EQ(read<Ipv6>(header.data()).source, expected) << text;
    } else if (text.find(':') != std::string::npos) {
      ASSERT_FALSE(taken) << text;
    }
  }
}

TEST(Gid, HoldsAnIpv4Address) {
  const Gid gid = Gid::from_ipv4(Ipv4Address{{10, 77, 0, 2}});
  EXPECT_EQ(gid, gid_of("00000000000000000000ffff0a4d0002"));
  EXPECT_TRUE(gid.is_ipv4_mapped());
  EXPECT_EQ(gid.ipv4(), (Ipv4Address{{10, 77, 0, 2}}));
  EXPECT_FALSE(gid_of("00000000000000000001ffff0a4d0002").is_ipv4_mapped());
  EXPECT_FALSE(gid_of("00000000000000000000fffe0a4d0002").is_ipv4_mapped());
}

}  // namespace
}  // namespace roce
