// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "roce/wire/types.h"

namespace roce::transport {

/// The encapsulation of a GID's packets (IBTA annex A16, A17).
enum class GidType : std::uint8_t { roce_v1, roce_v2 };

/// One entry of a port's GID table.
struct GidEntry {
  Gid gid{};  ///< IPv4-mapped, link-local or global
  GidType type = GidType::roce_v2;
  std::optional<std::uint16_t> vlan_id{};  ///< 0 … 4094: frames carry this tag
  /// PCP of the tag; empty: the service level is used.
  std::optional<std::uint8_t> priority{};

  friend bool operator==(const GidEntry&, const GidEntry&) = default;
};

/// Returns the GID that every RoCE port has without an address: fe80::/64 and the EUI-64 of the MAC (RFC 4291).
[[nodiscard]] Gid link_local_gid(const MacAddress& mac);
/// Returns the MAC address inside a link-local GID made by `link_local_gid`; empty for any other GID.
[[nodiscard]] std::optional<MacAddress> mac_of_link_local(const Gid& gid);
/// True if a GID is a multicast group: ff00::/8 or an IPv4-mapped 224.0.0.0/4.
[[nodiscard]] bool is_multicast(const Gid& gid);
/// Returns the Ethernet address of a multicast group (RFC 1112, RFC 2464).
[[nodiscard]] MacAddress multicast_mac(const Gid& gid);

/// Returns the UDP source port of a flow label: 0xC000 | a 14-bit fold of the 20-bit label,
/// which is the port's entropy (Linux `rdma_flow_label_to_udp_sport`).
[[nodiscard]] std::uint16_t udp_source_port(std::uint32_t flow_label);
/// Returns the flow label that both ends derive from their QPNs, in either order.
[[nodiscard]] std::uint32_t flow_label_of(Qpn a, Qpn b);
/// Returns the port that Soft-RoCE gives a QP without a connection: a hash of its QPN.
[[nodiscard]] std::uint16_t unconnected_source_port(Qpn qpn);

/// The address vector of a QP or an AH: the way of a packet to its peer.
struct AddressVector {
  std::uint16_t sgid_index = 0;  ///< entry of the device's GID table; determines version, VLAN and source address
  Gid dgid{};
  std::uint8_t traffic_class = 0;  ///< DSCP << 2 | ECN; the device's rules may override it
  /// 0 … 7; empty: the device's policy derives it from the traffic class.
  std::optional<std::uint8_t> service_level{};
  std::optional<std::uint8_t> hop_limit{};  ///< empty: the device's hop limit
  std::uint32_t flow_label = 0;             ///< 20 bits; 0: derived from the QPNs
  /// Empty: taken from the multicast group, a RoCE v1 link-local GID, or the neighbour table.
  std::optional<MacAddress> destination_mac{};
  std::optional<std::uint16_t> udp_source_port{};  ///< empty: derived from the flow label

  friend bool operator==(const AddressVector&, const AddressVector&) = default;
};

/// The derivation of a service level from a TOS byte.
enum class SlPolicy : std::uint8_t {
  linux_table,  ///< Linux `rt_tos2priority`: 0, 2, 6 or 4 by TOS bits 4 and 3
  mlnx,         ///< TOS >> 5
};
[[nodiscard]] std::uint8_t service_level_of(SlPolicy policy, std::uint8_t tos);

/// A GID prefix; an IPv4 prefix length counts in the IPv4-mapped form (a /24 is 120 bits).
struct GidPrefix {
  Gid gid{};
  std::uint8_t bits = 0;  ///< 0 … 128

  [[nodiscard]] bool contains(const Gid& other) const;
};

/// A rule that sets the traffic class of packets to or from certain addresses.
struct TrafficClassRule {
  std::optional<GidPrefix> source{};
  std::optional<GidPrefix> destination{};
  std::uint8_t traffic_class = 0;
};

/// Overrides for the traffic class of an address vector: the global value wins, then the first rule that matches
/// (the order that NVIDIA documents for its `traffic_class` setting).
struct TrafficClassPolicy {
  std::optional<std::uint8_t> global{};
  std::vector<TrafficClassRule> rules{};

  [[nodiscard]] std::uint8_t apply(const Gid& source, const Gid& destination, std::uint8_t requested) const;
};

}  // namespace roce::transport
