// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "roce/wire/icmpv6.h"
#include "roce/wire/packet.h"
#include "roce/wire/types.h"

namespace roce {

/// Purposes of the messages by which hosts find each other's Ethernet addresses.
enum class NeighbourPurpose : std::uint8_t {
  question,      ///< where `address` is
  answer,        ///< `address` is at `mac`
  announcement,  ///< the same, unasked
};

/// A message of ARP (RFC 826), or a neighbour solicitation or advertisement of IPv6 (RFC 4861).
struct NeighbourMessage {
  NeighbourPurpose purpose{};
  Gid sender{};           ///< the host that asks or says it; no address (0.0.0.0, ::) while it tests whether it is free
  Gid address{};          ///< the address that it is about
  MacAddress mac{};       ///< of `address`; of a question: of its sender, zeros if it does not say
  bool is_probe = false;  ///< a question whether an address is free, which nobody should answer

  friend bool operator==(const NeighbourMessage&, const NeighbourMessage&) = default;
};

/// Returns the message in a frame, as far as it was captured. Nothing if it is not one, if its fields contradict each
/// other, or if an IPv6 message cannot have come from its own link.
[[nodiscard]] std::optional<NeighbourMessage> read_neighbour_message(const Packet& packet);

/// The link-layer address in the options of neighbour discovery.
struct NdLinkLayerAddress {
  bool ok = true;  ///< false: the options are malformed
  std::optional<MacAddress> mac{};
};

/// Returns the address in the last option of type `wanted`; `options` are the bytes behind the message.
[[nodiscard]] NdLinkLayerAddress read_nd_options(Bytes options, NdOption wanted);

}  // namespace roce
