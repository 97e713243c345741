// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "roce/wire/checksum.h"
#include "roce/wire/packet_spec.h"

namespace roce {

/// The places of all parts of a packet once it is built.
struct PacketSpec::Layout {
  std::vector<std::size_t> offsets;  ///< offset of each part
  std::size_t payload = 0;
  std::size_t pad = 0;
  std::size_t pad_size = 0;
  std::size_t icrc = 0;
  std::size_t end = 0;                 ///< behind the ICRC, where the trailer begins
  std::optional<std::size_t> bth;      ///< index of its part
  std::optional<std::size_t> network;  ///< index of the part with the innermost IP header or GRH in front of the BTH
};

namespace detail {

/// Returns the IPv4 header at this offset, with the length that it states, but not beyond the packet.
[[nodiscard]] inline Bytes ipv4_header_at(Bytes packet, std::size_t offset) {
  const Bytes header = packet.subspan(offset);
  const std::size_t size = FieldOf<&Ipv4::header_length>::get(header.data()) * std::size_t{4};
  return header.first(std::clamp(size, kSize<Ipv4>, std::max(kSize<Ipv4>, header.size()) & ~std::size_t{3}));
}

/// Returns the checksum that this header should have.
[[nodiscard]] inline std::uint16_t checksum_of_ipv4_at(Bytes packet, std::size_t offset) {
  return ipv4_checksum(ipv4_header_at(packet, offset));
}

}  // namespace detail

}  // namespace roce
