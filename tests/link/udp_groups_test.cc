// SPDX-License-Identifier: BSD-2-Clause
// Multicast groups of UDP links on the loopback interface, which has no route to those of IPv6.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "udp_fixture.h"

namespace roce::link::test {
namespace {

using ::testing::ElementsAre;

class UdpGroupsTest : public UdpLinkTest {
 protected:
  void SetUp() override {
    UdpLinkTest::SetUp();
    // Tests that run at the same time would be in the same groups.
    if (!network()) GTEST_SKIP() << *OwnNetwork::unavailable();
  }

  [[nodiscard]] static Address group(std::uint8_t last) {
    Address address{};
    address[10] = address[11] = std::byte{0xff};
    address[12] = std::byte{239};
    address[13] = std::byte{77};
    address[15] = std::byte{last};
    return address;
  }
  /// Waits for a datagram at the sockets of a link's groups, and returns what came.
  [[nodiscard]] static std::vector<Bytes> from_groups(UdpLink& link) {
    pollfd readable{.fd = link.group_fd(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&readable, 1, 10'000), 1);
    std::array<RxFrame, 8> frames{};
    std::vector<Bytes> came;
    const std::size_t count = link.receive(frames).value_or(0);
    for (const RxFrame& frame : std::span{frames}.first(count))
      came.emplace_back(frame.bytes.begin(), frame.bytes.end());
    return came;
  }
};

TEST_P(UdpGroupsTest, EachMemberGetsACopyWithItsHeaders) {
  const auto sender = open(first());
  const auto member = open(second());
  ASSERT_TRUE(sender && member);
  EXPECT_EQ(member->group_fd(), -1);
  ASSERT_TRUE(sender->join(group(1)));
  ASSERT_TRUE(member->join(group(1)));
  ASSERT_TRUE(send_one(*sender, pattern(20, 1), meta(first(), group(1), 50001)));
  for (UdpLink* const link : {sender.get(), member.get()}) {
    pollfd readable{.fd = link->group_fd(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&readable, 1, 10'000), 1);
    std::array<RxFrame, 4> frames{};
    ASSERT_EQ(link->receive(frames).value_or(0), 1U);
    EXPECT_TRUE(std::ranges::equal(frames[0].bytes, pattern(20, 1)));
    EXPECT_EQ(frames[0].udp, meta(first(), group(1), 50001));
    EXPECT_EQ(::poll(&readable, 1, 0), 0);
  }
}

TEST_P(UdpGroupsTest, OtherGroupsAndThoseThatOthersJoinedStayAway) {
  const auto sender = open(first());
  const auto member = open(second());
  ASSERT_TRUE(sender && member);
  ASSERT_TRUE(sender->join(group(1)));
  ASSERT_TRUE(member->join(group(2)));
  ASSERT_TRUE(send_one(*sender, pattern(20, 1), meta(first(), group(1), 50001)));
  ASSERT_TRUE(send_one(*sender, pattern(30, 2), meta(first(), group(2), 50001)));
  EXPECT_THAT(from_groups(*member), ElementsAre(pattern(30, 2)));
  pollfd readable{.fd = member->group_fd(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&readable, 1, 0), 0);
}

TEST_P(UdpGroupsTest, AGroupIsLeftWhenItWasLeftAsOftenAsJoined) {
  const auto sender = open(first());
  const auto member = open(second());
  ASSERT_TRUE(sender && member);
  ASSERT_TRUE(member->join(group(1)));
  ASSERT_TRUE(member->join(group(1)));
  member->leave(group(1));
  member->leave(group(3));
  ASSERT_TRUE(send_one(*sender, pattern(20, 1), meta(first(), group(1), 50001)));
  EXPECT_THAT(from_groups(*member), ElementsAre(pattern(20, 1)));
  member->leave(group(1));
  ASSERT_TRUE(send_one(*sender, pattern(20, 1), meta(first(), group(1), 50001)));
  ASSERT_TRUE(send_one(*sender, pattern(30, 2), meta(first(), second(), 50001)));
  const auto came = collect(*member, 1);
  ASSERT_EQ(came.size(), 1U);
  EXPECT_EQ(came[0].bytes, pattern(30, 2));
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Family, UdpGroupsTest, ::testing::Values("v4"),
                         [](const auto& test) { return std::string{test.param}; });

}  // namespace roce::link::test
