// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "replay/translator.h"
#include "roce/wire/packet.h"

namespace roce::replay {

/// Who sent a packet to whom, in the input: the owners of the QPNs in it.
struct Ends {
  Gid source{};
  Gid destination{};
};

/// An address that the rules leave open, or cannot be written where it would have to stand.
struct AddressProblem {
  std::string message;  ///< `10.77.0.2 is in no --ip-map`
};

// In what follows `packet` says where everything lies in `frame`.

/// Translates the addresses in all headers but the network header in front of the BTH: of Ethernet, ARP, neighbour
/// discovery, tunnels, CM messages and the RDMA IP CM header. Where `lenient`, addresses that the rules leave open
/// stay.
[[nodiscard]] std::optional<AddressProblem> edit_addresses(const Packet& packet, std::span<std::byte> frame,
                                                           Translator& translator, bool lenient);

/// Translates QPNs, PSNs, keys and virtual addresses in the transport headers and CM messages.
void edit_transport(const Packet& packet, std::span<std::byte> frame, const Ends& ends, Translator& translator);

/// Makes pseudonyms of what programs said: payload, immediate and atomic data, private data, and what the padding
/// holds.
void hide_data(const Packet& packet, std::span<std::byte> frame, Translator& translator);

}  // namespace roce::replay
