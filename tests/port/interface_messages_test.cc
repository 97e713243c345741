// SPDX-License-Identifier: BSD-2-Clause
// Messages of a real kernel (Linux 6.1), so that kernels without VLAN devices can run these tests too. Attributes that
// nobody reads here, such as statistics, are taken out.
#include "port/interface_messages.h"

#include <gtest/gtest.h>

#include "support/hex.h"

namespace roce::port {
namespace {

using ::roce::test::from_hex;

/// `ip link add link va name va.5 type vlan id 5`, on interface 3.
constexpr const char* kVlan =
    "000001000400000043100100000000000900030076612e350000000008000400dc05000008003200000000000a000100"
    "02000000000a00000a000200ffffffffffff00003000120009000100766c616e00000000200002000600050081000000"
    "06000100050000000c00020001000000ffffffff0800050003000000";
/// `ip link add link va name va.s type vlan protocol 802.1ad id 6`.
constexpr const char* kServiceVlan =
    "000001000500000043100100000000000900030076612e730000000008000400dc05000008003200000000000a000100"
    "02000000000a00000a000200ffffffffffff00003000120009000100766c616e00000000200002000600050088a80000"
    "06000100060000000c00020001000000ffffffff0800050003000000";

TEST(InterfaceMessages, OfAVlanDeviceTellItsTagAndParent) {
  const auto interface = read_interface(from_hex(kVlan));
  ASSERT_TRUE(interface.has_value());
  EXPECT_EQ(*interface, (Interface{.index = 4,
                                   .name = "va.5",
                                   .mac = {{2, 0, 0, 0, 0, 0x0A}},
                                   .mtu = 1500,
                                   .up = true,
                                   .vlan_id = 5,
                                   .parent_index = 3}));
}

TEST(InterfaceMessages, OfAServiceVlanDeviceTellNoTag) {
  const auto interface = read_interface(from_hex(kServiceVlan));
  ASSERT_TRUE(interface.has_value());
  EXPECT_EQ(interface->name, "va.s");
  EXPECT_EQ(interface->vlan_id, std::nullopt);
  EXPECT_EQ(interface->parent_index, 3u);
}

TEST(InterfaceMessages, OfAVlanDeviceWhoseParentIsInAnotherNamespaceTellNoParent) {
  // IFLA_LINK_NETNSID 0 behind the rest.
  const auto interface = read_interface(from_hex(kVlan + std::string{"0800250000000000"}));
  ASSERT_TRUE(interface.has_value());
  EXPECT_EQ(interface->vlan_id, 5);
  EXPECT_EQ(interface->parent_index, std::nullopt);
}

TEST(InterfaceMessages, ThatEndAnywhereAreReadNoFurther) {
  const std::vector<std::byte> whole = from_hex(kVlan);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    // In memory of its own, so that a sanitizer notices a read past its end.
    const std::vector<std::byte> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const auto interface = read_interface(part);
    if (interface) {
      EXPECT_EQ(interface->name, "va.5");
    }
    EXPECT_FALSE(read_address(part).has_value());
  }
}

TEST(InterfaceMessages, WithAttributesOfImpossibleLengthAreReadNoFurther) {
  const std::vector<std::byte> whole = from_hex(kVlan);
  for (std::size_t i = 16; i < whole.size(); ++i) {
    for (const std::byte value : {std::byte{0}, std::byte{3}, std::byte{0xFF}}) {
      std::vector<std::byte> damaged = whole;
      damaged[i] = value;
      const auto interface = read_interface(damaged);
      if (interface) {
        EXPECT_EQ(interface->index, 4u);
      }
    }
  }
}

}  // namespace
}  // namespace roce::port
