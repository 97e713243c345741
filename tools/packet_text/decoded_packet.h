// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "roce/wire/icrc.h"
#include "roce/wire/packet.h"
#include "roce/wire/visit.h"

namespace roce::packet_text {

/// The origin of a packet. The texts belong to the reader and are valid until its next record.
struct FrameInfo {
  std::string_view file;
  std::uint64_t number = 0;             ///< frame number in its file, from 1, as all tools count
  unsigned segment = 0;                 ///< number of the packet in a super-frame, from 1; 0: the frame is one packet
  unsigned segments = 0;                ///< packets in the super-frame
  std::optional<std::int64_t> time_ns;  ///< since 1970
  std::int64_t relative_ns = 0;         ///< since the first frame of the file
  unsigned time_digits = 6;             ///< decimal places of the file's times, 6 or 9
  std::uint32_t length = 0;             ///< bytes on the wire
  std::uint32_t captured = 0;           ///< bytes in the file
  std::uint16_t link_type = 0;
  std::uint32_t interface_id = 0;
  std::string_view interface_name;
  std::string_view comment;
  std::optional<std::uint64_t> drops;  ///< packets that the capture lost just before this one
};

/// One packet and everything that is shown about it.
struct DecodedPacket {
  const FrameInfo& frame;
  const Packet& whole;   ///< the frame as it was captured
  const Packet& packet;  ///< the frame itself, or one packet of a super-frame
  const IcrcVerdict& icrc;
  std::uint32_t base = 0;  ///< offset of the bytes of `packet` in the frame
};

/// Calls `use(const HeaderInfo&, Bytes header, std::size_t offset)` for each header of a packet, outermost first;
/// offsets count from the start of the frame. For a packet of a super-frame these are the headers in front of the
/// frame's BTH, then its own.
template <typename Use>
void visit_decoded(const DecodedPacket& decoded, Use use) {
  if (&decoded.whole != &decoded.packet) {
    bool in_front = true;
    visit_headers(decoded.whole, [&](const HeaderInfo& header, Bytes bytes, std::size_t offset) {
      in_front = in_front && header.id != HeaderId::bth;
      if (in_front) use(header, bytes, offset);
    });
  }
  visit_headers(decoded.packet, [&](const HeaderInfo& header, Bytes bytes, std::size_t offset) {
    use(header, bytes, decoded.base + offset);
  });
}

}  // namespace roce::packet_text
