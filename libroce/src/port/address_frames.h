// SPDX-License-Identifier: BSD-2-Clause
// Frames of the protocols around an IP address: ARP, ICMP and IGMP over IPv4, ICMPv6 over IPv6.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "roce/wire/arp.h"
#include "roce/wire/header.h"
#include "roce/wire/ipv4.h"
#include "roce/wire/ipv6.h"
#include "roce/wire/types.h"

namespace roce::port {

using Frame = std::vector<std::byte>;

inline constexpr MacAddress kBroadcastMac{{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}};

/// The station and VLAN that frames come from.
struct Sender {
  MacAddress mac{};
  std::optional<std::uint16_t> vlan_id{};
};

/// Returns the bytes of the headers, one behind the other.
template <HeaderType... Headers>
[[nodiscard]] std::vector<std::byte> joined(const Headers&... headers) {
  std::vector<std::byte> bytes((std::size_t{0} + ... + kSize<Headers>));
  std::byte* out = bytes.data();
  ((write(headers, out), out += kSize<Headers>), ...);
  return bytes;
}

[[nodiscard]] Frame arp_frame(const Sender& sender, const MacAddress& destination, const Arp& arp);
/// Returns a frame with an ICMP or IGMP message, by `ip.protocol`; lengths and checksums of both are computed.
[[nodiscard]] Frame ipv4_frame(const Sender& sender, const MacAddress& destination, const Ipv4& ip,
                               std::vector<std::byte> message, bool router_alert = false);
/// Returns a frame with an ICMPv6 message; lengths and checksums of `ip` and `message` are computed.
[[nodiscard]] Frame ipv6_frame(const Sender& sender, const MacAddress& destination, Ipv6 ip,
                               std::vector<std::byte> message, bool router_alert = false);

/// The content of an Ethernet frame.
struct ReceivedEthernet {
  MacAddress source{};
  EtherType type{};
  Bytes payload;
};
/// Returns nullopt for a frame with another VLAN tag, from the receiver itself, or to another station.
[[nodiscard]] std::optional<ReceivedEthernet> read_ethernet(const Sender& receiver, Bytes frame);

/// A whole message of ICMP, IGMP or ICMPv6.
struct ReceivedMessage {
  MacAddress source_mac{};
  Gid source{};
  Gid destination{};
  std::uint8_t hop_limit = 0;
  IpProtocol protocol{};
  Bytes message;
};
/// Returns nullopt for other protocols, fragments, and anything cut off or with a wrong length or checksum.
[[nodiscard]] std::optional<ReceivedMessage> read_message(const ReceivedEthernet& ethernet);

}  // namespace roce::port
