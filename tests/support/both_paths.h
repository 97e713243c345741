// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "roce/wire/packet.h"
#include "support/hex.h"
#include "wire/packet_parser.h"

namespace roce::test {

/// Returns a packet for a parser to fill, without a problem and without a NetMeta.
inline Packet blank_packet() {
  static const auto lldp = from_hex("0180c200000e02000000000188cc");
  return parse_frame(lldp, LinkType::ethernet);
}

/// Parses a frame layer by layer, even if `parse_frame` has a shorter way.
inline Packet parse_by_layers(Bytes frame, std::uint32_t reported, LinkType link_type = LinkType::ethernet) {
  Packet packet = blank_packet();
  PacketParser{packet, frame, reported}.parse_frame(link_type);
  return packet;
}

}  // namespace roce::test
