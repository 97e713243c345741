// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "roce/port/result.h"
#include "roce/transport/address.h"
#include "roce/wire/types.h"

namespace roce::port {

/// An IP address of an interface.
struct InterfaceAddress {
  Gid gid{};                     ///< IPv6, or IPv4 in the mapped form
  std::uint8_t prefix_bits = 0;  ///< of the network as people write it: 0 … 32 for IPv4, 0 … 128 for IPv6

  friend bool operator==(const InterfaceAddress&, const InterfaceAddress&) = default;
};

/// What the kernel says of a network interface.
struct Interface {
  std::uint32_t index = 0;
  std::string name;
  MacAddress mac{};  ///< zeros where the interface has no Ethernet address
  std::uint32_t mtu = 0;
  bool up = false;  ///< set up by its owner; the cable may be out
  bool loopback = false;
  /// Of an 802.1Q upper device: its tag, 0 … 4094. An 802.1ad (service tag) device has none.
  std::optional<std::uint16_t> vlan_id{};
  /// Of a VLAN upper device (802.1Q or 802.1ad): the index of the interface under it.
  std::optional<std::uint32_t> parent_index{};
  /// In the kernel's order: IPv4 before IPv6; of IPv6 the widest scope first and of one scope the newest first.
  std::vector<InterfaceAddress> addresses{};

  friend bool operator==(const Interface&, const Interface&) = default;
};

/// All interfaces of the calling thread's network namespace, in the kernel's order (that of their making).
[[nodiscard]] Result<std::vector<Interface>> list_interfaces();

/// The interface of this name. Error: there is none; the message lists those that there are.
[[nodiscard]] Result<Interface> find_interface(std::string_view name);

/// One row of the GID table of an interface.
struct GidTableRow {
  std::uint16_t index = 0;  ///< what an `sgid_index` names it by
  transport::GidEntry entry{};
  std::string netdev;     ///< the interface that has the address: the interface itself or a VLAN device on it
  std::uint32_t mtu = 0;  ///< of that interface

  friend bool operator==(const GidTableRow&, const GidTableRow&) = default;
};

/// The GID table that Linux gives an RDMA device that appears on `interface` now: first the default GIDs
/// (`transport::link_local_gid` of the MAC), then the addresses of the interface in their order, then those of its
/// 802.1Q devices with their tags; each GID as RoCE v1 and as RoCE v2. An address that is the default GID has no
/// further rows. `interfaces` is what `list_interfaces` gave. Left out are VLAN devices with a MAC address of their own
/// (an endpoint has one) or a service tag, and default GIDs where there is no MAC. The table of a VLAN device has no
/// tags: the kernel puts them into what is sent there.
[[nodiscard]] std::vector<GidTableRow> gid_table(const Interface& interface, std::span<const Interface> interfaces);

/// The entries of a table in their order, as `transport::DeviceConfig` takes them.
[[nodiscard]] std::vector<transport::GidEntry> gid_entries(std::span<const GidTableRow> table);

}  // namespace roce::port
