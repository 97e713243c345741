// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "roce/wire/types.h"

namespace roce {

/// The encapsulation of a BTH.
enum class RoceVersion : std::uint8_t {
  none,     ///< not RoCE
  v1,       ///< Ethernet and GRH (IBTA annex A16)
  v2_ipv4,  ///< UDP over IPv4 (IBTA annex A17)
  v2_ipv6,  ///< UDP over IPv6
};

/// Returns `RoCEv1`, `RoCEv2/IPv4`, `RoCEv2/IPv6`, or an empty view.
[[nodiscard]] constexpr std::string_view to_string(RoceVersion version) {
  switch (version) {
    case RoceVersion::none:
      return {};
    case RoceVersion::v1:
      return "RoCEv1";
    case RoceVersion::v2_ipv4:
      return "RoCEv2/IPv4";
    case RoceVersion::v2_ipv6:
      return "RoCEv2/IPv6";
  }
  return {};
}

/// The properties of a packet outside its BTH: read from the headers in front of it,
/// or supplied by a link that hides these headers (a UDP socket, somebody else's dissector).
struct NetMeta {
  RoceVersion version = RoceVersion::v2_ipv4;
  Gid source{};                          ///< SGID; the source address in mapped form for IPv4
  Gid destination{};                     ///< DGID
  std::uint8_t traffic_class = 0;        ///< DSCP << 2 | ECN
  std::uint8_t hop_limit = 64;           ///< TTL
  std::optional<std::uint16_t> ip_id{};  ///< IPv4 identification; empty if the link hides it, or if not IPv4
  bool dont_fragment = true;             ///< IPv4 DF
  std::uint16_t udp_source_port = 0;
  std::optional<std::uint16_t> vlan_tci{};  ///< TCI of the innermost tag
  std::int64_t timestamp_ns = 0;            ///< since an epoch of the caller's choice

  friend constexpr bool operator==(const NetMeta&, const NetMeta&) = default;
};

}  // namespace roce
