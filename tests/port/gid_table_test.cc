// SPDX-License-Identifier: BSD-2-Clause
#include <gmock/gmock.h>

#include "roce/port/interfaces.h"
#include "support/ip_text.h"

namespace roce::port {
namespace {

using ::roce::test::gid;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr MacAddress kMac{{2, 0, 0, 0, 0, 0x0A}};

Interface ethernet(std::uint32_t index, const std::string& name, std::vector<InterfaceAddress> addresses = {}) {
  return {.index = index, .name = name, .mac = kMac, .mtu = 1500, .up = true, .addresses = std::move(addresses)};
}

Interface vlan(std::uint32_t index, const std::string& name, std::uint16_t vlan_id, std::uint32_t parent_index,
               std::vector<InterfaceAddress> addresses) {
  Interface interface = ethernet(index, name, std::move(addresses));
  interface.vlan_id = vlan_id;
  interface.parent_index = parent_index;
  interface.mtu = 1400;
  return interface;
}

/// Returns each row in short form: `2 v1 192.0.2.1 eth0 - 1500`.
std::vector<std::string> shown(const std::vector<GidTableRow>& table) {
  std::vector<std::string> rows;
  for (const GidTableRow& row : table) {
    rows.push_back(std::to_string(row.index) + (row.entry.type == transport::GidType::roce_v1 ? " v1 " : " v2 ") +
                   to_string(row.entry.gid) + " " + row.netdev + " " +
                   (row.entry.vlan_id ? std::to_string(*row.entry.vlan_id) : "-") + " " + std::to_string(row.mtu));
  }
  return rows;
}

TEST(GidTable, OfAnInterfaceWithoutAddressesHasTheDefaultGids) {
  const std::vector<Interface> all{ethernet(2, "eth0")};
  EXPECT_THAT(shown(gid_table(all[0], all)),
              ElementsAre("0 v1 fe80::ff:fe00:a eth0 - 1500", "1 v2 fe80::ff:fe00:a eth0 - 1500"));
}

TEST(GidTable, HasTheAddressesOfVlanDevicesBehindThoseOfTheInterface) {
  const std::vector<Interface> all{
      vlan(5, "eth0.7", 7, 2, {{gid("192.0.2.65"), 26}, {gid("fe80::ff:fe00:a"), 64}}),
      ethernet(2, "eth0", {{gid("192.0.2.1"), 26}, {gid("2001:db8::1"), 64}, {gid("fe80::ff:fe00:a"), 64}}),
      vlan(6, "eth1.8", 8, 3, {{gid("198.51.100.1"), 24}}),
  };
  EXPECT_THAT(shown(gid_table(all[1], all)),
              ElementsAre("0 v1 fe80::ff:fe00:a eth0 - 1500", "1 v2 fe80::ff:fe00:a eth0 - 1500",  //
                          "2 v1 192.0.2.1 eth0 - 1500", "3 v2 192.0.2.1 eth0 - 1500",              //
                          "4 v1 2001:db8::1 eth0 - 1500", "5 v2 2001:db8::1 eth0 - 1500",          //
                          "6 v1 192.0.2.65 eth0.7 7 1400", "7 v2 192.0.2.65 eth0.7 7 1400",        //
                          "8 v1 fe80::ff:fe00:a eth0.7 7 1400", "9 v2 fe80::ff:fe00:a eth0.7 7 1400"));
}

TEST(GidTable, LeavesOutVlanDevicesWithAnotherMacAddressOrNoTag) {
  std::vector<Interface> all{ethernet(2, "eth0"), vlan(5, "eth0.7", 7, 2, {{gid("192.0.2.65"), 26}}),
                             vlan(6, "eth0.8", 8, 2, {{gid("192.0.2.129"), 26}})};
  all[1].mac.octets[5] = 0x0B;
  all[2].vlan_id.reset();  // as an 802.1ad device
  EXPECT_EQ(gid_table(all[0], all).size(), 2u);
}

TEST(GidTable, OfAVlanDeviceHasNoTags) {
  const std::vector<Interface> all{ethernet(2, "eth0", {{gid("192.0.2.1"), 26}}),
                                   vlan(5, "eth0.7", 7, 2, {{gid("192.0.2.65"), 26}})};
  EXPECT_THAT(shown(gid_table(all[1], all)),
              ElementsAre("0 v1 fe80::ff:fe00:a eth0.7 - 1400", "1 v2 fe80::ff:fe00:a eth0.7 - 1400",
                          "2 v1 192.0.2.65 eth0.7 - 1400", "3 v2 192.0.2.65 eth0.7 - 1400"));
}

TEST(GidTable, HasAnAddressOnceAlsoWhereItHasTwoPrefixes) {
  const std::vector<Interface> all{ethernet(2, "eth0", {{gid("192.0.2.1"), 24}, {gid("192.0.2.1"), 32}})};
  EXPECT_EQ(gid_table(all[0], all).size(), 4u);
}

TEST(GidTable, WithoutMacAddressHasNoDefaultGids) {
  Interface interface = ethernet(1, "lo", {{gid("127.0.0.1"), 8}});
  interface.mac = {};
  EXPECT_THAT(shown(gid_table(interface, {})), ElementsAre("0 v1 127.0.0.1 lo - 1500", "1 v2 127.0.0.1 lo - 1500"));
  interface.addresses.clear();
  EXPECT_THAT(gid_table(interface, {}), IsEmpty());
}

TEST(GidTable, GivesTheEntriesOfADevice) {
  const std::vector<Interface> all{ethernet(2, "eth0"), vlan(5, "eth0.7", 7, 2, {{gid("192.0.2.65"), 26}})};
  const std::vector<transport::GidEntry> entries = gid_entries(gid_table(all[0], all));
  ASSERT_EQ(entries.size(), 4u);
  EXPECT_EQ(entries[3],
            (transport::GidEntry{.gid = gid("192.0.2.65"), .type = transport::GidType::roce_v2, .vlan_id = 7}));
}

}  // namespace
}  // namespace roce::port
