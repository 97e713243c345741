// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "roce/wire/packet.h"

namespace roce::replay {

/// The bytes of transport headers, by header.
using HeaderBytes = std::map<HeaderId, std::vector<std::byte>>;

/// Puts the headers of `packet` behind its BTH into `headers`, where they replace those of their kinds.
void collect_headers(const Packet& packet, HeaderBytes& headers);

/// The position of a packet in its message.
struct MessagePlace {
  bool begins = true;
  bool ends = true;
};
[[nodiscard]] MessagePlace place_of(const OpcodeInfo& info);

/// The values that are new in a packet that is made from others.
struct NewPacket {
  Psn psn{};
  MessagePlace place{};
  bool solicited = false;
  bool ack_req = false;
  bool immediate = false;   ///< has immediate data, if it ends its message
  bool invalidate = false;  ///< has an R_Key to invalidate, if it ends its message
};

/// Turns `frame`, which holds the bytes of `like`, into a packet of the same operation at another place of its message.
/// It gets those of `headers` that its opcode asks for. Lengths and check values are made to fit; wrong ones stay wrong
/// in the same bits. `link_type` is that of the frame. False: a header is not there, and nothing was changed.
[[nodiscard]] bool make_packet(const Packet& like, const NewPacket& made, const HeaderBytes& headers, Bytes payload,
                               LinkType link_type, std::vector<std::byte>& frame);

}  // namespace roce::replay
