// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "roce/link/link.h"

namespace roce::link {

inline constexpr std::size_t kEthernetBytes = 14;
inline constexpr std::size_t kVlanTagBytes = 4;

/// An interface as the links on Ethernet frames see it.
struct EthernetInterface {
  std::string name;
  int index = 0;
  std::array<std::byte, 6> mac{};
  std::size_t mtu = 0;

  /// The longest frame without a VLAN tag; with one it may have `kVlanTagBytes` more.
  [[nodiscard]] std::size_t max_frame() const { return mtu + kEthernetBytes; }
};

/// Looks in the namespace of the calling thread. Errors: no such interface, not an Ethernet, down.
[[nodiscard]] LinkResult<EthernetInterface> find_ethernet_interface(const std::string& name);

/// How many receive queues an interface of this namespace has.
[[nodiscard]] unsigned receive_queues(const std::string& name);

/// Whether the interface is still where `socket` is, which the calling thread may have left.
[[nodiscard]] bool is_there(int socket, int index);

}  // namespace roce::link
