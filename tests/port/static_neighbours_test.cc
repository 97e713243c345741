// SPDX-License-Identifier: BSD-2-Clause
#include <gmock/gmock.h>

#include "roce/port/neighbours.h"
#include "support/ip_text.h"

namespace roce::port {
namespace {

using ::roce::test::gid;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr MacAddress kMac{{2, 0, 0, 0, 0, 0x0A}};
constexpr MacAddress kOtherMac{{2, 0, 0, 0, 0, 0x0B}};
constexpr Time kNow{};

TEST(StaticNeighbours, AreFoundByAddressAndVlan) {
  StaticNeighbours neighbours;
  neighbours.set(gid("192.0.2.1"), std::nullopt, kMac);
  neighbours.set(gid("192.0.2.1"), 5, kOtherMac);
  EXPECT_EQ(neighbours.find(gid("192.0.2.1"), std::nullopt, kNow), kMac);
  EXPECT_EQ(neighbours.find(gid("192.0.2.1"), 5, kNow), kOtherMac);
  EXPECT_EQ(neighbours.find(gid("192.0.2.1"), 6, kNow), std::nullopt);
  EXPECT_EQ(neighbours.find(gid("192.0.2.2"), std::nullopt, kNow), std::nullopt);
  EXPECT_EQ(neighbours.fd(), -1);
  EXPECT_EQ(neighbours.next_timeout(), kNever);
}

TEST(StaticNeighbours, OfEverybodyStandInWhereThereIsNoEntry) {
  StaticNeighbours neighbours{kMac};
  neighbours.set(gid("2001:db8::1"), std::nullopt, kOtherMac);
  EXPECT_EQ(neighbours.find(gid("2001:db8::1"), std::nullopt, kNow), kOtherMac);
  EXPECT_EQ(neighbours.find(gid("2001:db8::2"), 5, kNow), kMac);
}

TEST(StaticNeighbours, TellWhatIsSetAfterItWasAskedFor) {
  StaticNeighbours neighbours;
  EXPECT_EQ(neighbours.find(gid("192.0.2.1"), 5, kNow), std::nullopt);
  neighbours.set(gid("192.0.2.1"), std::nullopt, kOtherMac);
  EXPECT_THAT(neighbours.poll(kNow), IsEmpty());
  neighbours.set(gid("192.0.2.1"), 5, kMac);
  EXPECT_THAT(neighbours.poll(kNow), ElementsAre(Neighbours::Answer{gid("192.0.2.1"), 5, kMac}));
  EXPECT_THAT(neighbours.poll(kNow), IsEmpty());
}

TEST(StaticNeighbours, SayWhatIsMissing) {
  StaticNeighbours neighbours;
  EXPECT_EQ(neighbours.why_unknown(gid("192.0.2.1"), 5), "no MAC address was given for 192.0.2.1 in VLAN 5; give one");
}

}  // namespace
}  // namespace roce::port
