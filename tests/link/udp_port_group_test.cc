// SPDX-License-Identifier: BSD-2-Clause
// UDP port 4791 divided by DestQP among sockets that may be other processes'.
#include "roce/link/udp_port_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <memory>

#include "udp_fixture.h"

namespace roce::link::test {
namespace {

using ::testing::HasSubstr;

class UdpPortGroupTest : public UdpLinkTest {
 protected:
  /// A link on a share that is lent as to another process.
  [[nodiscard]] std::unique_ptr<UdpLink> link_on(UdpPortGroup& group, std::uint8_t shard) const {
    const LinkResult<int> lent = group.lend(shard);
    if (!lent) return nullptr;
    auto link = UdpLink::open({.local = first(), .segmentation = true, .receiver = ::dup(*lent)});
    return link ? std::move(*link) : nullptr;
  }

  /// The bytes of a BTH with a DestQP, behind a reserved byte that is not zero.
  [[nodiscard]] static Bytes to_qp(std::uint32_t qpn) {
    Bytes bytes(12);
    bytes[4] = std::byte{0xC0};
    for (unsigned i = 0; i < 3; ++i) bytes[5 + i] = static_cast<std::byte>(qpn >> (8 * (2 - i)));
    return bytes;
  }
};

TEST_P(UdpPortGroupTest, GivesEachDatagramToTheSocketOfItsQueuePair) {
  auto group = UdpPortGroup::open({.local = first()});
  ASSERT_TRUE(group) << group.error().message;
  const auto zero = link_on(*group, 0);
  const auto five = link_on(*group, 5);
  const auto last = link_on(*group, 255);
  ASSERT_TRUE(zero && five && last);
  const PlainSocket sender(second());
  struct Case {
    std::uint32_t qpn;
    UdpLink* to;
  };
  for (const Case& one :
       {Case{0x000105, five.get()}, Case{0xABCDFF, last.get()}, Case{0x123405, five.get()}, Case{1, zero.get()},
        Case{0, zero.get()}, Case{0xFFFFFF, zero.get()}, Case{0x7F00, zero.get()}}) {
    ASSERT_TRUE(sender.send_to(first(), 4791, to_qp(one.qpn)));
    const auto kept = collect(*one.to, 1);
    ASSERT_EQ(kept.size(), 1U) << std::hex << one.qpn;
    EXPECT_EQ(kept[0].bytes, to_qp(one.qpn));
  }
  for (UdpLink* const link : {zero.get(), five.get(), last.get()}) {
    RxFrame frame;
    EXPECT_EQ(*link->receive({&frame, 1}), 0U) << "nothing came to a second socket";
  }
}

TEST_P(UdpPortGroupTest, KeepsItsPlacesWhenAProcessEnds) {
  auto group = UdpPortGroup::open({.local = first()});
  ASSERT_TRUE(group);
  auto three = link_on(*group, 3);
  const auto nine = link_on(*group, 9);
  ASSERT_TRUE(three && nine);
  const PlainSocket sender(second());
  three.reset();
  group->take_back(3);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(sender.send_to(first(), 4791, to_qp(0x103)));
    ASSERT_TRUE(sender.send_to(first(), 4791, to_qp(0x109)));
  }
  EXPECT_EQ(collect(*nine, 3).size(), 3U);
  // Datagrams for the last user are not for the next.
  const auto again = link_on(*group, 3);
  ASSERT_TRUE(again);
  ASSERT_TRUE(sender.send_to(first(), 4791, to_qp(0x203)));
  const auto kept = collect(*again, 1);
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].bytes, to_qp(0x203));
}

TEST_P(UdpPortGroupTest, LetsSharesSendToEachOther) {
  auto group = UdpPortGroup::open({.local = first()});
  ASSERT_TRUE(group);
  const auto three = link_on(*group, 3);
  const auto nine = link_on(*group, 9);
  ASSERT_TRUE(three && nine);
  // Both would have the same source port.
  const std::uint16_t wanted = 50001;
  const std::uint16_t port = three->source_port(wanted);
  const std::uint16_t other = nine->source_port(wanted);
  EXPECT_NE(port, other);
  ASSERT_TRUE(send_one(*three, to_qp(0x109), meta(first(), first(), port)));
  const auto kept = collect(*nine, 1);
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].frame.udp.source_port, port);
}

TEST_P(UdpPortGroupTest, RefusesAPortThatSomebodyHas) {
  const auto whole = open(first());
  ASSERT_TRUE(whole);
  const auto group = UdpPortGroup::open({.local = first()});
  ASSERT_FALSE(group);
  EXPECT_THAT(group.error().message, HasSubstr("the port is taken"));
}

TEST_P(UdpPortGroupTest, LeavesNothingOfThePortToOthers) {
  const auto files = open_files();
  {
    auto group = UdpPortGroup::open({.local = first()});
    ASSERT_TRUE(group);
    const auto whole = UdpLink::open({.local = first()});
    ASSERT_FALSE(whole);
    EXPECT_THAT(whole.error().message, HasSubstr("the port is taken"));
  }
  EXPECT_EQ(open_files(), files);
}

INSTANTIATE_TEST_SUITE_P(Of, UdpPortGroupTest, ::testing::Values("v4", "v6"));

}  // namespace
}  // namespace roce::link::test
