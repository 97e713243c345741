// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "analyze/decoded_packet.h"
#include "analyze/text_buffer.h"

namespace roce::analyze {

/// An output format for packets.
class PacketFormat {
 public:
  PacketFormat() = default;
  PacketFormat(const PacketFormat&) = delete;
  PacketFormat& operator=(const PacketFormat&) = delete;
  virtual ~PacketFormat() = default;

  /// Appends one packet as complete lines.
  virtual void append_packet(TextBuffer& out, const DecodedPacket& decoded) = 0;
};

}  // namespace roce::analyze
