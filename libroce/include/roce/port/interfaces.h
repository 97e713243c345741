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
  std::uint8_t prefix_bits = 0;  ///< prefix length as people write it: 0 … 32 for IPv4, 0 … 128 for IPv6

  friend bool operator==(const InterfaceAddress&, const InterfaceAddress&) = default;
};

/// Properties of a network interface as the kernel reports them.
struct Interface {
  std::uint32_t index = 0;
  std::string name;
  MacAddress mac{};  ///< zeros if the interface does not have an Ethernet address
  std::uint32_t mtu = 0;
  bool up = false;  ///< administratively up; the cable may be out
  bool loopback = false;
  /// Tag of an 802.1Q upper device, 0 … 4094. An 802.1ad (service tag) device does not have one here.
  std::optional<std::uint16_t> vlan_id{};
  /// Index of the interface under a VLAN upper device (802.1Q or 802.1ad).
  std::optional<std::uint32_t> parent_index{};
  /// In the kernel's order: IPv4 before IPv6; IPv6 by scope, the widest first, and within a scope the newest first.
  std::vector<InterfaceAddress> addresses{};

  friend bool operator==(const Interface&, const Interface&) = default;
};

/// Returns all interfaces of the calling thread's network namespace, in the kernel's order (that of creation).
[[nodiscard]] Result<std::vector<Interface>> list_interfaces();

/// Returns the interface of this name. Error: there is none; the message lists those that exist.
[[nodiscard]] Result<Interface> find_interface(std::string_view name);

/// One row of the GID table of an interface.
struct GidTableRow {
  std::uint16_t index = 0;  ///< the number that an `sgid_index` refers to
  transport::GidEntry entry{};
  std::string netdev;     ///< the interface that has the address: the interface itself or a VLAN device on it
  std::uint32_t mtu = 0;  ///< MTU of that interface, in bytes

  friend bool operator==(const GidTableRow&, const GidTableRow&) = default;
};

/// Returns the GID table that Linux gives an RDMA device that appears on `interface` now:
/// first the default GIDs (`transport::link_local_gid` of the MAC), then the addresses of the interface in their order,
/// then those of its 802.1Q devices with their tags; each GID as RoCE v1 and as RoCE v2.
/// An address that is the default GID has no further rows. `interfaces` is the result of `list_interfaces`.
/// VLAN devices with a MAC address of their own (an endpoint has only one) or a service tag are left out, and default
/// GIDs if there is no MAC. The table of a VLAN device has no tags: the kernel adds them to what is sent there.
[[nodiscard]] std::vector<GidTableRow> gid_table(const Interface& interface, std::span<const Interface> interfaces);

/// Returns the entries of a table in their order, as `transport::DeviceConfig` takes them.
[[nodiscard]] std::vector<transport::GidEntry> gid_entries(std::span<const GidTableRow> table);

}  // namespace roce::port
