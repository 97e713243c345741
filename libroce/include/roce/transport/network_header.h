// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>

#include "roce/wire/types.h"

namespace roce::transport {

/// Number of bytes in front of the data in the buffer of a received datagram.
inline constexpr std::size_t kNetworkHeaderArea = 40;

/// The source and destination of a datagram.
struct NetworkAddresses {
  Gid source{};  ///< IPv4-mapped for IPv4
  Gid destination{};

  friend bool operator==(const NetworkAddresses&, const NetworkAddresses&) = default;
};

/// Reads the first 40 bytes of a received datagram's buffer: a GRH or IPv6 header, or 20 arbitrary bytes and an IPv4
/// header (IBTA annex A17; UD-04, a datagram arrives behind its network header). Empty: neither, or too short.
[[nodiscard]] std::optional<NetworkAddresses> addresses_in(Bytes area);

}  // namespace roce::transport
