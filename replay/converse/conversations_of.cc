// SPDX-License-Identifier: BSD-2-Clause
#include "replay/converse/conversations_of.h"

#include <fmt/format.h>

#include "roce/link/capture_reader.h"
#include "roce/wire/super_frame.h"

namespace roce::replay {

Outcome<CapturedConversations> conversations_of(const std::string& path, std::uint64_t memory) {
  link::Result<link::CaptureReader> reader = link::CaptureReader::open(path);
  if (!reader) return failed(reader.error().message);
  ConversationReader conversations{memory};
  std::uint64_t packets = 0;
  for (link::CaptureRecord record; reader->next(record);) {
    const Packet whole = parse_frame(record.bytes, LinkType{record.link_type}, record.original_length);
    if (!whole.is_roce()) continue;
    std::uint32_t segment = 0;
    for_each_packet(whole, [&](const Packet& packet, const IcrcVerdict& icrc) {
      ++packets;
      conversations.observe(packet, icrc, Time{Duration{record.timestamp_ns}}, {record.number, segment++});
    });
  }
  if (reader->error()) return failed(reader->error()->message);
  if (packets == 0) return cannot(fmt::format("{}: there is no RoCE packet in it, so nothing to do again", path));
  CapturedConversations captured{.conversations = conversations.finish()};
  captured.left_out = conversations.left_out();
  return captured;
}

}  // namespace roce::replay
