// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "roce/wire/types.h"

namespace roce::verbs {

/// The place of a device in the network. A program sees a device at each place.
struct Place {
  Gid address{};                 ///< address of this machine, IPv4 in the mapped form; the only entry of the GID table
  std::string interface;         ///< the interface that has it
  unsigned interface_index = 0;  ///< of that interface
  MacAddress mac{};              ///< zeros if it has none
  std::uint32_t path_mtu = 0;    ///< bytes: 256, 512, 1024, 2048 or 4096

  /// Returns the name of the device: `roce_eth0`.
  [[nodiscard]] std::string device_name() const { return "roce_" + interface; }
  /// Returns the node GUID: the EUI-64 of the interface's MAC, or else the last half of the address.
  [[nodiscard]] std::uint64_t guid() const;
};

/// Returns the place of `address`, a text; without one, the first address of each interface that is up, loopback last.
/// Error: a sentence about an address that is none, or not of this machine.
[[nodiscard]] tl::expected<std::vector<Place>, std::string> find_places(const std::optional<std::string>& address);

}  // namespace roce::verbs
