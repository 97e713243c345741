// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "replay/rewrite/translator.h"
#include "roce/wire/packet.h"

namespace roce::replay {

/// Sender and receiver of a packet in the input: the owners of the QPNs in it.
struct Ends {
  Gid source{};
  Gid destination{};
};

/// An address that the rules leave open, or that cannot be written into its place.
struct AddressProblem {
  std::string message;  ///< `10.77.0.2 is in no --ip-map`
};

// In the functions below, `packet` tells where everything lies in `frame`.

/// Translates the addresses in all headers but the network header in front of the BTH: those of
/// Ethernet, ARP, neighbour discovery, tunnels, CM messages and the RDMA IP CM header. With `lenient`,
/// addresses that the rules leave open stay as they are.
[[nodiscard]] std::optional<AddressProblem> edit_addresses(const Packet& packet, std::span<std::byte> frame,
                                                           Translator& translator, bool lenient);

/// Translates QPNs, PSNs, keys and virtual addresses in the transport headers and CM messages.
void edit_transport(const Packet& packet, std::span<std::byte> frame, const Ends& ends, Translator& translator);

/// Replaces by pseudonyms what programs sent (payload, immediate, atomic and private data) and the CA GUIDs of CM
/// messages; padding and trailer become zeros. Does nothing without pseudonyms.
void hide_data(const Packet& packet, std::span<std::byte> frame, Translator& translator);

}  // namespace roce::replay
