// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "roce/link/link.h"

namespace roce::link {

inline constexpr std::size_t kEthernetBytes = 14;
inline constexpr std::size_t kVlanTagBytes = 4;

/// An interface as seen by the links that carry Ethernet frames.
struct EthernetInterface {
  std::string name;
  int index = 0;
  std::array<std::byte, 6> mac{};
  std::size_t mtu = 0;

  /// Returns the longest frame without a VLAN tag, in bytes; with a tag it may be `kVlanTagBytes` longer.
  [[nodiscard]] std::size_t max_frame() const { return mtu + kEthernetBytes; }
};

/// Searches the namespace of the calling thread. Errors: no such interface, not an Ethernet, down.
[[nodiscard]] LinkResult<EthernetInterface> find_ethernet_interface(const std::string& name);

/// Returns the number of receive queues of an interface of this namespace.
[[nodiscard]] unsigned receive_queues(const std::string& name);

/// True if the interface still exists in the namespace of `socket`, which the calling thread may have left.
[[nodiscard]] bool is_there(int socket, int index);

}  // namespace roce::link
