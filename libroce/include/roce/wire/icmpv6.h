// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>

#include "roce/wire/header.h"

namespace roce {

/// ICMPv6 message types this codec knows (RFC 4443, 2710, 4861, 3810).
enum class Icmpv6Type : std::uint8_t {
  destination_unreachable = 1,
  packet_too_big = 2,
  time_exceeded = 3,
  echo_request = 128,
  echo_reply = 129,
  listener_query = 130,
  listener_report = 131,
  listener_done = 132,
  neighbour_solicitation = 135,
  neighbour_advertisement = 136,
  listener_report_v2 = 143,
};

inline constexpr std::array kIcmpv6TypeNames{ValueName{1, "destination unreachable"},
                                             ValueName{2, "packet too big"},
                                             ValueName{3, "time exceeded"},
                                             ValueName{128, "echo request"},
                                             ValueName{129, "echo reply"},
                                             ValueName{130, "multicast listener query"},
                                             ValueName{131, "multicast listener report"},
                                             ValueName{132, "multicast listener done"},
                                             ValueName{135, "neighbour solicitation"},
                                             ValueName{136, "neighbour advertisement"},
                                             ValueName{143, "multicast listener report v2"}};

/// The start of every ICMPv6 message, 4 bytes (RFC 4443, 2.1).
struct Icmpv6 {
  Icmpv6Type type{};
  std::uint8_t code{};
  std::uint16_t checksum{};  ///< over the whole message and a pseudo header: `ipv6_upper_checksum`

  friend constexpr bool operator==(const Icmpv6&, const Icmpv6&) = default;
};
template <>
inline constexpr HeaderName kHeader<Icmpv6>{HeaderId::icmpv6, "icmpv6", "ICMPv6", 4};
template <>
inline constexpr auto kFields<Icmpv6> =
    FieldList{field<&Icmpv6::type, 0, 8>("type", FieldFormat::decimal, "Type", kIcmpv6TypeNames),
              field<&Icmpv6::code, 8, 8>("code", FieldFormat::decimal, "Code"),
              field<&Icmpv6::checksum, 16, 16>("checksum", FieldFormat::hex, "Checksum")};

/// The rest of a neighbour solicitation, 20 bytes (RFC 4861, 4.3); options follow.
struct NeighbourSolicitation {
  std::uint32_t reserved{};
  Gid target{};

  friend constexpr bool operator==(const NeighbourSolicitation&, const NeighbourSolicitation&) = default;
};
template <>
inline constexpr HeaderName kHeader<NeighbourSolicitation>{HeaderId::nd_solicitation, "nd_solicitation",
                                                           "neighbour solicitation", 20};
template <>
inline constexpr auto kFields<NeighbourSolicitation> =
    FieldList{field<&NeighbourSolicitation::reserved, 0, 32>("reserved", FieldFormat::reserved, "Reserved"),
              field<&NeighbourSolicitation::target, 32, 128>("target", FieldFormat::gid, "Target Address")};

/// The rest of a neighbour advertisement, 20 bytes (RFC 4861, 4.4); options follow.
struct NeighbourAdvertisement {
  bool router{};
  bool solicited{};  ///< it answers a solicitation
  bool overrides{};  ///< it replaces a known link-layer address
  std::uint32_t reserved{};
  Gid target{};

  friend constexpr bool operator==(const NeighbourAdvertisement&, const NeighbourAdvertisement&) = default;
};
template <>
inline constexpr HeaderName kHeader<NeighbourAdvertisement>{HeaderId::nd_advertisement, "nd_advertisement",
                                                            "neighbour advertisement", 20};
template <>
inline constexpr auto kFields<NeighbourAdvertisement> =
    FieldList{field<&NeighbourAdvertisement::router, 0, 1>("router", FieldFormat::boolean, "Router flag"),
              field<&NeighbourAdvertisement::solicited, 1, 1>("solicited", FieldFormat::boolean, "Solicited flag"),
              field<&NeighbourAdvertisement::overrides, 2, 1>("override", FieldFormat::boolean, "Override flag"),
              field<&NeighbourAdvertisement::reserved, 3, 29>("reserved", FieldFormat::reserved, "Reserved"),
              field<&NeighbourAdvertisement::target, 32, 128>("target", FieldFormat::gid, "Target Address")};

/// Options of neighbour discovery that hold a link-layer address (RFC 4861, 4.6.1).
enum class NdOption : std::uint8_t { source_link_layer = 1, target_link_layer = 2 };

inline constexpr std::array kNdOptionNames{ValueName{1, "source link-layer address"},
                                           ValueName{2, "target link-layer address"}};

/// A link-layer address option for Ethernet, 8 bytes (RFC 4861, 4.6.1; RFC 2464, 6). Other options begin with the same
/// two fields.
struct NdLinkLayer {
  NdOption type{};
  std::uint8_t length = 1;  ///< length of the option, in units of 8 bytes; never 0
  MacAddress mac{};

  friend constexpr bool operator==(const NdLinkLayer&, const NdLinkLayer&) = default;
};
template <>
inline constexpr HeaderName kHeader<NdLinkLayer>{HeaderId::nd_link_layer, "nd_link_layer", "link-layer address option",
                                                 8};
template <>
inline constexpr auto kFields<NdLinkLayer> =
    FieldList{field<&NdLinkLayer::type, 0, 8>("type", FieldFormat::decimal, "Type", kNdOptionNames),
              field<&NdLinkLayer::length, 8, 8>("length", FieldFormat::decimal, "Length in units of 8 bytes"),
              field<&NdLinkLayer::mac, 16, 48>("mac", FieldFormat::mac, "Link-Layer Address")};

}  // namespace roce
