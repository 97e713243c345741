// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>

#include "roce/wire/header.h"

namespace roce {

/// EtherTypes this codec follows or recognises (IEEE 802 numbers; 0x8915 is RoCE v1, IBTA annex A16).
enum class EtherType : std::uint16_t {
  ipv4 = 0x0800,
  arp = 0x0806,
  transparent_ethernet = 0x6558,
  vlan = 0x8100,
  ipv6 = 0x86DD,
  mac_control = 0x8808,
  mpls = 0x8847,
  mpls_multicast = 0x8848,
  provider_vlan = 0x88A8,
  erspan2 = 0x88BE,
  lldp = 0x88CC,
  roce_v1 = 0x8915,
  qinq_old = 0x9100,
  erspan3 = 0x22EB,
  cnm = 0x22E7,
  cn_tag = 0x22E9,
};

inline constexpr std::array kEtherTypeNames{ValueName{0x0800, "IPv4"},
                                            ValueName{0x0806, "ARP"},
                                            ValueName{0x22E7, "CNM"},
                                            ValueName{0x22E9, "CN-TAG"},
                                            ValueName{0x22EB, "ERSPAN III"},
                                            ValueName{0x6558, "Ethernet"},
                                            ValueName{0x8100, "802.1Q"},
                                            ValueName{0x86DD, "IPv6"},
                                            ValueName{0x8808, "MAC control"},
                                            ValueName{0x8847, "MPLS"},
                                            ValueName{0x8848, "MPLS multicast"},
                                            ValueName{0x88A8, "802.1ad"},
                                            ValueName{0x88BE, "ERSPAN II"},
                                            ValueName{0x88CC, "LLDP"},
                                            ValueName{0x8915, "RoCE v1"},
                                            ValueName{0x9100, "802.1QinQ"}};

/// Ethernet II header (IEEE 802.3), 14 bytes.
struct Ethernet {
  MacAddress destination{};
  MacAddress source{};
  EtherType ether_type{};

  friend constexpr bool operator==(const Ethernet&, const Ethernet&) = default;
};
template <>
inline constexpr HeaderName kHeader<Ethernet>{HeaderId::ethernet, "eth", "Ethernet", 14};
template <>
inline constexpr auto kFields<Ethernet> =
    FieldList{field<&Ethernet::destination, 0, 48>("dst", FieldFormat::mac, "Destination"),
              field<&Ethernet::source, 48, 48>("src", FieldFormat::mac, "Source"),
              field<&Ethernet::ether_type, 96, 16>("type", FieldFormat::hex, "EtherType", kEtherTypeNames)};

/// IEEE 802.1Q or 802.1ad tag without its own EtherType: the TCI and the EtherType behind it, 4 bytes.
struct VlanTag {
  std::uint8_t priority{};  ///< PCP, 0…7
  bool drop_eligible{};     ///< DEI
  std::uint16_t vlan_id{};  ///< VID, 0…4095
  EtherType ether_type{};   ///< type of the data that follows

  friend constexpr bool operator==(const VlanTag&, const VlanTag&) = default;
};
template <>
inline constexpr HeaderName kHeader<VlanTag>{HeaderId::vlan, "vlan", "VLAN tag", 4};
template <>
inline constexpr auto kFields<VlanTag> =
    FieldList{field<&VlanTag::priority, 0, 3>("pcp", FieldFormat::decimal, "Priority Code Point"),
              field<&VlanTag::drop_eligible, 3, 1>("dei", FieldFormat::boolean, "Drop Eligible Indicator"),
              field<&VlanTag::vlan_id, 4, 12>("vid", FieldFormat::decimal, "VLAN Identifier"),
              field<&VlanTag::ether_type, 16, 16>("type", FieldFormat::hex, "EtherType", kEtherTypeNames)};

}  // namespace roce
