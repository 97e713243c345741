// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>

#include "roce/wire/header.h"

namespace roce {

/// IP protocol numbers and IPv6 next headers this codec follows.
enum class IpProtocol : std::uint8_t {
  hop_by_hop = 0,
  icmp = 1,
  igmp = 2,
  ipv4 = 4,
  tcp = 6,
  udp = 17,
  grh_bth = 0x1B,  ///< in a GRH: a BTH follows (IBTA vol. 1, 8.3)
  ipv6 = 41,
  routing = 43,
  fragment = 44,
  gre = 47,
  authentication = 51,
  icmpv6 = 58,
  no_next = 59,
  destination_options = 60,
  mpls = 137,
};

inline constexpr std::array kIpProtocolNames{
    ValueName{0, "Hop-by-Hop"}, ValueName{1, "ICMP"},      ValueName{2, "IGMP"},     ValueName{4, "IPv4"},
    ValueName{6, "TCP"},        ValueName{17, "UDP"},      ValueName{0x1B, "BTH"},   ValueName{41, "IPv6"},
    ValueName{43, "Routing"},   ValueName{44, "Fragment"}, ValueName{47, "GRE"},     ValueName{51, "AH"},
    ValueName{58, "ICMPv6"},    ValueName{59, "none"},     ValueName{60, "Options"}, ValueName{137, "MPLS"}};

inline constexpr std::array kEcnNames{ValueName{0, "Not-ECT"}, ValueName{1, "ECT(1)"}, ValueName{2, "ECT(0)"},
                                      ValueName{3, "CE"}};

/// IPv4 header without options, 20 bytes (RFC 791; DSCP and ECN: RFC 2474, RFC 3168). RoCE v2 uses no options.
struct Ipv4 {
  std::uint8_t version = 4;
  std::uint8_t header_length = 5;  ///< in words of 4 bytes, 5…15
  std::uint8_t dscp{};
  std::uint8_t ecn{};
  std::uint16_t total_length{};  ///< bytes, from this header to the end of the packet
  std::uint16_t identification{};
  bool reserved_flag{};
  bool dont_fragment{};
  bool more_fragments{};
  std::uint16_t fragment_offset{};  ///< in units of 8 bytes
  std::uint8_t ttl = 64;
  IpProtocol protocol = IpProtocol::udp;
  std::uint16_t checksum{};
  Ipv4Address source{};
  Ipv4Address destination{};

  friend constexpr bool operator==(const Ipv4&, const Ipv4&) = default;
};
template <>
inline constexpr HeaderName kHeader<Ipv4>{HeaderId::ipv4, "ip", "IPv4", 20};
template <>
inline constexpr auto kFields<Ipv4> =
    FieldList{field<&Ipv4::version, 0, 4>("version", FieldFormat::decimal, "Version"),
              field<&Ipv4::header_length, 4, 4>("header_length", FieldFormat::decimal, "Header Length in words"),
              field<&Ipv4::dscp, 8, 6>("dscp", FieldFormat::decimal, "Differentiated Services Code Point"),
              field<&Ipv4::ecn, 14, 2>("ecn", FieldFormat::decimal, "Explicit Congestion Notification", kEcnNames),
              field<&Ipv4::total_length, 16, 16>("total_length", FieldFormat::decimal, "Total Length"),
              field<&Ipv4::identification, 32, 16>("id", FieldFormat::hex, "Identification"),
              field<&Ipv4::reserved_flag, 48, 1>("reserved_flag", FieldFormat::boolean, "Reserved flag"),
              field<&Ipv4::dont_fragment, 49, 1>("df", FieldFormat::boolean, "Don't Fragment"),
              field<&Ipv4::more_fragments, 50, 1>("mf", FieldFormat::boolean, "More Fragments"),
              field<&Ipv4::fragment_offset, 51, 13>("fragment_offset", FieldFormat::decimal, "Fragment Offset"),
              field<&Ipv4::ttl, 64, 8>("ttl", FieldFormat::decimal, "Time to Live"),
              field<&Ipv4::protocol, 72, 8>("protocol", FieldFormat::decimal, "Protocol", kIpProtocolNames),
              field<&Ipv4::checksum, 80, 16>("checksum", FieldFormat::hex, "Header Checksum"),
              field<&Ipv4::source, 96, 32>("src", FieldFormat::ipv4, "Source Address"),
              field<&Ipv4::destination, 128, 32>("dst", FieldFormat::ipv4, "Destination Address")};

/// True if the packet of this IPv4 header is only a part of one: more fragments follow, or it is not the first.
[[nodiscard]] constexpr bool is_ipv4_fragment(const std::byte* header) {
  constexpr std::size_t flags_and_offset = FieldOf<&Ipv4::reserved_flag>::kFirstByte;
  constexpr std::uint64_t more_fragments_and_offset = 0x3FFF;
  return (load_big_endian<2>(header + flags_and_offset) & more_fragments_and_offset) != 0;
}

}  // namespace roce
