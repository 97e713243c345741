// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "roce/wire/header.h"
#include "roce/wire/ipv4.h"

namespace roce {

/// IPv4 option that asks routers to look at the packet, as IGMP uses it, 4 bytes (RFC 2113).
struct Ipv4RouterAlert {
  std::uint8_t type = 0x94;
  std::uint8_t length = 4;  ///< bytes
  std::uint16_t value{};

  friend constexpr bool operator==(const Ipv4RouterAlert&, const Ipv4RouterAlert&) = default;
};
template <>
inline constexpr HeaderName kHeader<Ipv4RouterAlert>{HeaderId::ipv4_router_alert, "ip_router_alert",
                                                     "IPv4 Router Alert", 4};
template <>
inline constexpr auto kFields<Ipv4RouterAlert> =
    FieldList{field<&Ipv4RouterAlert::type, 0, 8>("type", FieldFormat::hex, "Type"),
              field<&Ipv4RouterAlert::length, 8, 8>("length", FieldFormat::decimal, "Length"),
              field<&Ipv4RouterAlert::value, 16, 16>("value", FieldFormat::decimal, "Value")};

/// Hop-by-hop extension header of IPv6 with only the router alert option and its padding, as MLD uses it,
/// 8 bytes (RFC 8200, 4.3; RFC 2711). Every hop-by-hop header begins with the first two fields.
struct Ipv6RouterAlert {
  IpProtocol next_header = IpProtocol::icmpv6;
  std::uint8_t length{};  ///< length of the header behind its first 8 bytes, in units of 8 bytes
  std::uint8_t option = 5;
  std::uint8_t option_length = 2;
  std::uint16_t value{};  ///< 0: multicast listener discovery
  std::uint8_t pad_option = 1;
  std::uint8_t pad_length{};

  friend constexpr bool operator==(const Ipv6RouterAlert&, const Ipv6RouterAlert&) = default;
};
template <>
inline constexpr HeaderName kHeader<Ipv6RouterAlert>{HeaderId::ipv6_router_alert, "ipv6_router_alert",
                                                     "IPv6 Router Alert", 8};
template <>
inline constexpr auto kFields<Ipv6RouterAlert> = FieldList{
    field<&Ipv6RouterAlert::next_header, 0, 8>("next_header", FieldFormat::decimal, "Next Header", kIpProtocolNames),
    field<&Ipv6RouterAlert::length, 8, 8>("length", FieldFormat::decimal, "Length in units of 8 bytes"),
    field<&Ipv6RouterAlert::option, 16, 8>("option", FieldFormat::decimal, "Option type"),
    field<&Ipv6RouterAlert::option_length, 24, 8>("option_length", FieldFormat::decimal, "Option length"),
    field<&Ipv6RouterAlert::value, 32, 16>("value", FieldFormat::decimal, "Value"),
    field<&Ipv6RouterAlert::pad_option, 48, 8>("pad_option", FieldFormat::decimal, "Padding option type"),
    field<&Ipv6RouterAlert::pad_length, 56, 8>("pad_length", FieldFormat::decimal, "Padding option length")};

}  // namespace roce
