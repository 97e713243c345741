// SPDX-License-Identifier: BSD-2-Clause
// The results of list_interfaces, compared with the output of `ip`.
#include "roce/port/interfaces.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "namespace_test.h"
#include "support/ip_text.h"

namespace roce::port::test {
namespace {

using ::roce::test::CommandOutcome;
using ::roce::test::gid;

using InterfacesTest = NamespaceTest;

/// Returns the interfaces of a namespace as `ip -j -d addr` shows them.
std::vector<Interface> shown_by_ip(const NetworkNamespace& space) {
  std::vector<Interface> interfaces;
  for (const json& shown : ip_json(space, "-d addr show")) {
    Interface interface;
    interface.index = shown.at("ifindex");
    interface.name = shown.at("ifname");
    interface.mtu = shown.at("mtu");
    const json& flags = shown.at("flags");
    interface.up = std::find(flags.begin(), flags.end(), "UP") != flags.end();
    interface.loopback = shown.at("link_type") == "loopback";
    if (shown.at("link_type") == "ether") interface.mac = mac_from(shown.at("address"));
    const json info = shown.value("linkinfo", json::object());
    if (info.value("info_kind", "") == "vlan") {
      if (info.at("info_data").at("protocol") == "802.1Q") interface.vlan_id = info.at("info_data").at("id");
      interface.parent_index = ip_json(space, "link show dev " + shown.at("link").get<std::string>())[0].at("ifindex");
    }
    for (const json& address : shown.at("addr_info")) {
      interface.addresses.push_back({gid(address.at("local")), address.at("prefixlen")});
    }
    interfaces.push_back(std::move(interface));
  }
  return interfaces;
}

std::vector<Interface> listed(const NetworkNamespace& space) {
  const auto interfaces = space.in([] { return list_interfaces(); });
  EXPECT_TRUE(interfaces.has_value()) << interfaces.error().message;
  return interfaces.value_or(std::vector<Interface>{});
}

TEST_F(InterfacesTest, AreThoseThatIpShows) {
  const NetworkNamespace space;
  space.ip("link set lo up");
  space.ip("link add name va type veth peer name vb");
  space.ip("link set vb mtu 9000 address 02:00:00:00:00:0b addrgenmode none");
  space.ip("link set vb up");
  space.ip("address add 192.0.2.1/24 dev va");
  space.ip("address add 192.0.2.2/24 dev va");
  space.ip("address add 198.51.100.1 peer 198.51.100.2/32 dev vb");
  space.ip("address add 2001:db8::1/64 dev vb nodad");
  space.ip("address add 2001:db8::2/64 dev vb nodad");
  space.ip("address add fe80::b/64 dev vb nodad");
  // Interfaces of other kinds, if the kernel has them.
  static_cast<void>(space.run("ip link add name mv0 link vb type macvlan; ip tuntap add dev tun0 mode tun"));
  const std::vector<Interface> interfaces = listed(space);
  EXPECT_EQ(interfaces, shown_by_ip(space));
  const auto vb = std::find_if(interfaces.begin(), interfaces.end(), [](const Interface& i) { return i.name == "vb"; });
  ASSERT_NE(vb, interfaces.end());
  EXPECT_EQ(vb->mac, (MacAddress{{2, 0, 0, 0, 0, 0x0B}}));
  EXPECT_EQ(vb->mtu, 9000u);
  EXPECT_TRUE(vb->up);
  EXPECT_FALSE(vb->loopback);
  EXPECT_THAT(vb->addresses, ::testing::UnorderedElementsAre(
                                 InterfaceAddress{gid("198.51.100.1"), 32}, InterfaceAddress{gid("2001:db8::1"), 64},
                                 InterfaceAddress{gid("2001:db8::2"), 64}, InterfaceAddress{gid("fe80::b"), 64}));
}

TEST_F(InterfacesTest, AreListedAlsoWhereThereAreMoreThanOneMessageHolds) {
  const NetworkNamespace space;
  space.ip("link add name va type veth peer name vb");
  const CommandOutcome made = space.run(
      "for i in $(seq 1 250); do echo address add 10.1.$((i / 200)).$((i % 200))/24 dev va;"
      " echo address add 2001:db8::$i/64 dev vb nodad; done | ip -batch -;"
      "for i in $(seq 1 60); do echo link add name x$i type veth peer name y$i; done | ip -batch -");
  ASSERT_EQ(made.exit_code, 0) << made.output;
  const std::vector<Interface> interfaces = listed(space);
  EXPECT_EQ(interfaces.size(), 123u);
  EXPECT_EQ(interfaces, shown_by_ip(space));
}

TEST_F(InterfacesTest, OfAVlanTellTagAndParent) {
  const NetworkNamespace space;
  space.ip("link add name va type veth peer name vb");
  const CommandOutcome made = space.run("ip link add link va name va.5 type vlan id 5");
  if (made.exit_code != 0) GTEST_SKIP() << "this kernel has no VLAN devices: " << made.output;
  space.ip("link add link va name va.s type vlan protocol 802.1ad id 6");
  const std::vector<Interface> interfaces = listed(space);
  EXPECT_EQ(interfaces, shown_by_ip(space));
  EXPECT_EQ(std::count_if(interfaces.begin(), interfaces.end(), [](const Interface& i) { return i.vlan_id == 5; }), 1);
}

TEST_F(InterfacesTest, OfAnotherNamespaceAreNotMixedIn) {
  const NetworkNamespace a;
  const NetworkNamespace b;
  roce::test::connect_by_veth(a, "va", b, "vb");
  EXPECT_EQ(listed(a).size(), 2u);
  EXPECT_EQ(listed(b), shown_by_ip(b));
  for (const Interface& interface : listed(a)) EXPECT_FALSE(interface.parent_index) << interface.name;
}

TEST_F(InterfacesTest, AreFoundByName) {
  const NetworkNamespace space;
  space.ip("link add name va type veth peer name vb");
  const auto found = space.in([] { return find_interface("va"); });
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(found->name, "va");
}

TEST_F(InterfacesTest, ThatDoNotExistAreAnErrorThatListsThoseThatDo) {
  const NetworkNamespace space;
  space.ip("link add name va type veth peer name vb");
  for (const char* name : {"va0", "v", "", "a name that is far too long for an interface"}) {
    const auto found = space.in([&] { return find_interface(name); });
    ASSERT_FALSE(found.has_value()) << name;
    EXPECT_EQ(found.error().message,
              "there is no network interface '" + std::string{name} + "'; there are: lo, vb, va");
    EXPECT_FALSE(found.error().no_permission);
  }
}

TEST_F(InterfacesTest, GiveTheGidTableOfLinux) {
  const NetworkNamespace space;
  space.ip("link add name va type veth peer name vb");
  space.ip("link set va address 02:00:00:00:00:0a addrgenmode none");
  space.ip("link set va up");
  // The address that the kernel gives an interface by itself; it is the default GID too.
  space.ip("address add fe80::ff:fe00:a/64 dev va nodad");
  space.ip("address add 2001:db8::1/64 dev va nodad");
  space.ip("address add 2001:db8::2/64 dev va nodad");
  space.ip("address add fe80::7/64 dev va nodad");
  space.ip("address add 192.0.2.1/24 dev va");
  space.ip("address add 192.0.2.2/24 dev va");
  const std::vector<Interface> interfaces = listed(space);
  const auto va = std::find_if(interfaces.begin(), interfaces.end(), [](const Interface& i) { return i.name == "va"; });
  ASSERT_NE(va, interfaces.end());
  // The order that Soft-RoCE had in Linux 6.1, when it was put on an interface that had all of these addresses.
  std::vector<transport::GidEntry> expected;
  for (const char* address : {"fe80::ff:fe00:a", "192.0.2.1", "192.0.2.2", "2001:db8::2", "2001:db8::1", "fe80::7"}) {
    expected.push_back({.gid = gid(address), .type = transport::GidType::roce_v1});
    expected.push_back({.gid = gid(address), .type = transport::GidType::roce_v2});
  }
  EXPECT_EQ(gid_entries(gid_table(*va, interfaces)), expected);
}

}  // namespace
}  // namespace roce::port::test
