// SPDX-License-Identifier: BSD-2-Clause
#include "conform/report/frame_text.h"

#include <fmt/format.h>

#include <string_view>

#include "packet_text/packet_text.h"
#include "roce/wire/packet.h"

namespace roce::conform {

void append_frame_text(text::TextBuffer& out, const LoggedFrame& frame, const text::Palette& palette) {
  const Packet packet = parse_frame(frame.bytes, LinkType::ethernet);
  if (!packet.is_roce()) {
    text::append(out, fmt::format("{} bytes, not RoCE", frame.bytes.size()));
    return;
  }
  const std::string_view name = packet.info().name;
  text::append(out, fmt::format("{} psn {}{}", name.empty() ? "unknown opcode" : name, packet.bth().psn.value(),
                                packet.bth().ack_req ? " A" : ""));
  packet_text::append_packet_text(out, packet, palette);
}

double milliseconds_into(const std::vector<LoggedFrame>& frames, const LoggedFrame& frame) {
  return static_cast<double>((frame.time - frames.front().time).count()) / 1e6;
}

}  // namespace roce::conform
