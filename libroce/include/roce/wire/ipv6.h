// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "roce/wire/ipv4.h"

namespace roce {

/// IPv6 header, 40 bytes (RFC 8200).
struct Ipv6 {
  std::uint8_t version = 6;
  std::uint8_t dscp{};
  std::uint8_t ecn{};
  std::uint32_t flow_label{};      ///< 20 bits
  std::uint16_t payload_length{};  ///< bytes behind this header
  IpProtocol next_header = IpProtocol::udp;
  std::uint8_t hop_limit = 64;
  Gid source{};
  Gid destination{};

  friend constexpr bool operator==(const Ipv6&, const Ipv6&) = default;
};
template <>
inline constexpr HeaderName kHeader<Ipv6>{HeaderId::ipv6, "ipv6", "IPv6", 40};
template <>
inline constexpr auto kFields<Ipv6> =
    FieldList{field<&Ipv6::version, 0, 4>("version", FieldFormat::decimal, "IP Version"),
              field<&Ipv6::dscp, 4, 6>("dscp", FieldFormat::decimal, "Differentiated Services Code Point"),
              field<&Ipv6::ecn, 10, 2>("ecn", FieldFormat::decimal, "Explicit Congestion Notification", kEcnNames),
              field<&Ipv6::flow_label, 12, 20>("flow_label", FieldFormat::hex, "Flow Label"),
              field<&Ipv6::payload_length, 32, 16>("payload_length", FieldFormat::decimal, "Payload Length"),
              field<&Ipv6::next_header, 48, 8>("next_header", FieldFormat::decimal, "Next Header", kIpProtocolNames),
              field<&Ipv6::hop_limit, 56, 8>("hop_limit", FieldFormat::decimal, "Hop Limit"),
              field<&Ipv6::source, 64, 128>("src", FieldFormat::gid, "Source Address"),
              field<&Ipv6::destination, 192, 128>("dst", FieldFormat::gid, "Destination Address")};

}  // namespace roce
