// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "packet_text/decoded_packet.h"
#include "text/text_buffer.h"

namespace roce::packet_text {

/// An output format for packets.
class PacketFormat {
 public:
  PacketFormat() = default;
  PacketFormat(const PacketFormat&) = delete;
  PacketFormat& operator=(const PacketFormat&) = delete;
  virtual ~PacketFormat() = default;

  /// Appends one packet as complete lines.
  virtual void append_packet(text::TextBuffer& out, const DecodedPacket& decoded) = 0;
};

}  // namespace roce::packet_text
