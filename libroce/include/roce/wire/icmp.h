// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>

#include "roce/wire/header.h"

namespace roce {

/// ICMP message types this codec knows (RFC 792).
enum class IcmpType : std::uint8_t {
  echo_reply = 0,
  destination_unreachable = 3,
  echo_request = 8,
  time_exceeded = 11,
};

inline constexpr std::array kIcmpTypeNames{ValueName{0, "echo reply"}, ValueName{3, "destination unreachable"},
                                           ValueName{8, "echo request"}, ValueName{11, "time exceeded"}};

/// The start of every ICMP message, 4 bytes (RFC 792).
struct Icmp {
  IcmpType type{};
  std::uint8_t code{};
  std::uint16_t checksum{};  ///< over the whole message: `internet_checksum`

  friend constexpr bool operator==(const Icmp&, const Icmp&) = default;
};
template <>
inline constexpr HeaderName kHeader<Icmp>{HeaderId::icmp, "icmp", "ICMP", 4};
template <>
inline constexpr auto kFields<Icmp> =
    FieldList{field<&Icmp::type, 0, 8>("type", FieldFormat::decimal, "Type", kIcmpTypeNames),
              field<&Icmp::code, 8, 8>("code", FieldFormat::decimal, "Code"),
              field<&Icmp::checksum, 16, 16>("checksum", FieldFormat::hex, "Checksum")};

/// The rest of an echo request or reply of ICMP and ICMPv6, 4 bytes (RFC 792, RFC 4443); any data may follow.
struct IcmpEcho {
  std::uint16_t identifier{};
  std::uint16_t sequence{};

  friend constexpr bool operator==(const IcmpEcho&, const IcmpEcho&) = default;
};
template <>
inline constexpr HeaderName kHeader<IcmpEcho>{HeaderId::icmp_echo, "icmp_echo", "ICMP echo", 4};
template <>
inline constexpr auto kFields<IcmpEcho> =
    FieldList{field<&IcmpEcho::identifier, 0, 16>("id", FieldFormat::decimal, "Identifier"),
              field<&IcmpEcho::sequence, 16, 16>("sequence", FieldFormat::decimal, "Sequence Number")};

}  // namespace roce
