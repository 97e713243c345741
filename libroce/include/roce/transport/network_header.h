// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>

#include "roce/wire/types.h"

namespace roce::transport {

/// Bytes in front of the data in the buffer of a received datagram.
inline constexpr std::size_t kNetworkHeaderArea = 40;

/// Who sent a datagram, and to whom.
struct NetworkAddresses {
  Gid source{};  ///< IPv4-mapped for IPv4
  Gid destination{};

  friend bool operator==(const NetworkAddresses&, const NetworkAddresses&) = default;
};

/// Reads the first 40 bytes of a received datagram's buffer: a GRH or IPv6 header, or 20 bytes of anything and an IPv4
/// header (IBTA annex A17, UD-04). None: it holds neither, or is shorter.
[[nodiscard]] std::optional<NetworkAddresses> addresses_in(Bytes area);

}  // namespace roce::transport
