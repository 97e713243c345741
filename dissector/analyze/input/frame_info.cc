// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/input/frame_info.h"

#include <algorithm>

namespace roce::analyze {

packet_text::FrameInfo describe_frame(const link::CaptureReader& reader, const link::CaptureRecord& record,
                                      std::string_view file) {
  constexpr std::uint8_t kMicroseconds = 6;
  constexpr std::uint8_t kBinary = 0x80;
  packet_text::FrameInfo frame;
  const auto& interfaces = reader.interfaces();
  if (record.interface_id < interfaces.size()) {
    const link::CaptureInterface& interface = interfaces[record.interface_id];
    frame.interface_name = interface.name;
    const std::uint8_t resolution = interface.timestamp_resolution;
    frame.time_digits = resolution <= kMicroseconds && (resolution & kBinary) == 0 ? 6 : 9;
  }
  frame.file = file;
  frame.number = record.number;
  frame.length = std::max(record.original_length, static_cast<std::uint32_t>(record.bytes.size()));
  frame.captured = static_cast<std::uint32_t>(record.bytes.size());
  frame.link_type = record.link_type;
  frame.interface_id = record.interface_id;
  frame.comment = record.comment;
  frame.drops = record.drop_count;
  return frame;
}

bool has_unknown_link_type(const Packet& packet) {
  const ParseError& problem = packet.problem();
  return problem.reason == ParseReason::not_roce && problem.layer == HeaderId::none && problem.offset == 0 &&
         !packet.bytes().empty();
}

}  // namespace roce::analyze
