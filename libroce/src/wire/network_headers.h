// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>

#include "roce/wire/header_id.h"
#include "roce/wire/net_meta.h"

namespace roce {

/// The headers that a NetMeta stands for, as they were in front of the BTH.
struct NetworkHeaders {
  static constexpr std::size_t kMaxSize = 48;

  std::array<std::byte, kMaxSize> bytes{};
  std::size_t size = 0;               ///< 0 if `net` is not RoCE
  HeaderId network = HeaderId::none;  ///< `ipv4`, `ipv6` or `grh`
};

/// Writes the headers for a packet of `length` bytes from the BTH through the ICRC. Fields that a NetMeta does not have
/// are as Linux sends them: flow label and checksums 0, an unknown IPv4 identification 0.
[[nodiscard]] NetworkHeaders make_network_headers(const NetMeta& net, std::size_t length);

}  // namespace roce
