// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "roce/wire/header.h"

namespace roce {

/// UDP destination port of RoCE v2 (IBTA annex A17).
inline constexpr std::uint16_t kRocePort = 4791;
inline constexpr std::uint16_t kVxlanPort = 4789;
inline constexpr std::uint16_t kGenevePort = 6081;
inline constexpr std::uint16_t kMplsPort = 6635;

/// UDP header, 8 bytes (RFC 768).
struct Udp {
  std::uint16_t source_port{};
  std::uint16_t destination_port = kRocePort;
  std::uint16_t length{};    ///< bytes of this header and of the data behind it
  std::uint16_t checksum{};  ///< 0: none, as RoCE v2 sends it

  friend constexpr bool operator==(const Udp&, const Udp&) = default;
};
template <>
inline constexpr HeaderName kHeader<Udp>{HeaderId::udp, "udp", "UDP", 8};
template <>
inline constexpr auto kFields<Udp> =
    FieldList{field<&Udp::source_port, 0, 16>("srcport", FieldFormat::decimal, "Source Port"),
              field<&Udp::destination_port, 16, 16>("dstport", FieldFormat::decimal, "Destination Port"),
              field<&Udp::length, 32, 16>("length", FieldFormat::decimal, "Length"),
              field<&Udp::checksum, 48, 16>("checksum", FieldFormat::hex, "Checksum")};

}  // namespace roce
