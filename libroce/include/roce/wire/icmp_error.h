// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "roce/wire/packet.h"
#include "roce/wire/types.h"

namespace roce {

/// Why a packet did not reach its destination, as a host or router says it (RFC 792, RFC 1812, RFC 4443). Left out, as
/// they tell nothing about a way for RoCE: protocol unreachable (the quoted packet is UDP), source routes (ICMP code 5,
/// ICMPv6 code 7), an isolated source (8), precedence (14, 15), reassembly that took too long, and parameter problems.
enum class Undelivered : std::uint8_t {
  no_route,          ///< no way to this network
  host_unreachable,  ///< the last router does not find the host
  port_unreachable,  ///< the host takes nothing at this UDP port
  prohibited,        ///< a filter refuses it
  too_big,           ///< it exceeds the MTU of a link and must not be fragmented
  expired,           ///< its hop limit ran out on the way
  beyond_scope,      ///< its source address holds only on its own link, which it would have to leave
};

/// Returns `port unreachable`: the words of the RFCs, as far as they have some.
[[nodiscard]] std::string_view to_string(Undelivered why);

/// An ICMP or ICMPv6 error about a RoCE v2 packet, of which it quotes the beginning.
struct IcmpError {
  Undelivered why{};
  Gid reporter{};          ///< host or router that says it
  Gid source{};            ///< of the quoted packet
  Gid destination{};       ///< of the quoted packet
  std::uint32_t mtu = 0;   ///< with `too_big`: bytes of an IP packet that the link takes; 0: not said
  std::uint32_t size = 0;  ///< bytes of the quoted IP packet, as its header says
  std::uint16_t udp_source_port = 0;
  std::optional<Bth> bth{};  ///< of the quoted packet; not set if the quotation ends before it

  friend bool operator==(const IcmpError&, const IcmpError&) = default;
};

/// Returns the error in a frame. Nothing if it is not one, if it does not quote a packet to the UDP port of RoCE, if a
/// length in it is wrong, or if all of it was captured and its checksum is wrong.
[[nodiscard]] std::optional<IcmpError> read_icmp_error(const Packet& packet);

}  // namespace roce
