// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "roce/wire/ipv4.h"

namespace roce {

/// Global Route Header, 40 bytes (IBTA vol. 1, 8.3); the network header of RoCE v1 (annex A16). The payload length
/// counts from the BTH through the ICRC.
struct Grh {
  std::uint8_t version = 6;
  std::uint8_t dscp{};
  std::uint8_t ecn{};
  std::uint32_t flow_label{};      ///< 20 bits
  std::uint16_t payload_length{};  ///< bytes behind this header
  IpProtocol next_header = IpProtocol::grh_bth;
  std::uint8_t hop_limit = 64;
  Gid source{};
  Gid destination{};

  friend constexpr bool operator==(const Grh&, const Grh&) = default;
};
template <>
inline constexpr HeaderName kHeader<Grh>{HeaderId::grh, "grh", "GRH", 40};
template <>
inline constexpr auto kFields<Grh> =
    FieldList{field<&Grh::version, 0, 4>("version", FieldFormat::decimal, "IP Version"),
              field<&Grh::dscp, 4, 6>("dscp", FieldFormat::decimal, "Differentiated Services Code Point"),
              field<&Grh::ecn, 10, 2>("ecn", FieldFormat::decimal, "Explicit Congestion Notification", kEcnNames),
              field<&Grh::flow_label, 12, 20>("flow_label", FieldFormat::hex, "Flow Label"),
              field<&Grh::payload_length, 32, 16>("payload_length", FieldFormat::decimal, "Payload Length"),
              field<&Grh::next_header, 48, 8>("next_header", FieldFormat::decimal, "Next Header", kIpProtocolNames),
              field<&Grh::hop_limit, 56, 8>("hop_limit", FieldFormat::decimal, "Hop Limit"),
              field<&Grh::source, 64, 128>("sgid", FieldFormat::gid, "Source GID"),
              field<&Grh::destination, 192, 128>("dgid", FieldFormat::gid, "Destination GID")};

}  // namespace roce
