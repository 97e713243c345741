// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "roce/wire/packet.h"

namespace roce::replay {

/// The bytes of transport headers.
using HeaderBytes = std::map<HeaderId, std::vector<std::byte>>;

/// Puts the headers of `packet` behind its BTH into `headers`, in the place of those of their kinds.
void collect_headers(const Packet& packet, HeaderBytes& headers);

/// Where a packet stands in its message.
struct MessagePlace {
  bool begins = true;
  bool ends = true;
};
[[nodiscard]] MessagePlace place_of(const OpcodeInfo& info);

/// What is new in a packet that is made of others.
struct NewPacket {
  Psn psn{};
  MessagePlace place{};
  bool solicited = false;
  bool ack_req = false;
  bool immediate = false;   ///< if it ends its message
  bool invalidate = false;  ///< likewise
};

/// Makes `frame`, which holds the bytes of `like`, a packet of the same operation at another place of its message. It
/// has those of `headers` that its opcode asks for. Lengths and check values follow; those that were wrong are wrong in
/// the same bits. `link_type` is that of the frame. False: a header is not there, and nothing was changed.
[[nodiscard]] bool make_packet(const Packet& like, const NewPacket& made, const HeaderBytes& headers, Bytes payload,
                               LinkType link_type, std::vector<std::byte>& frame);

}  // namespace roce::replay
