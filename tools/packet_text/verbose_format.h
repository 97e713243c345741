// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "packet_text/packet_format.h"
#include "packet_text/time_text.h"
#include "text/palette.h"

namespace roce::packet_text {

/// Writes everything about a packet on many lines: each field of each header as
///     offset  header.field  value (name of the value)  title
/// The offset is that of the field's first byte in the frame; `42:2-3` are bits 2 and 3 of byte 42, where bit 0 is the
/// most significant one.
class VerboseFormat final : public PacketFormat {
 public:
  struct Options {
    bool payload = false;
    bool explain = false;
    text::Palette palette;
  };

  explicit VerboseFormat(const Options& options) : options_(options) {}

  void append_packet(text::TextBuffer& out, const DecodedPacket& decoded) override;

 private:
  void append_frame(text::TextBuffer& out, const FrameInfo& frame);
  void append_headers(text::TextBuffer& out, const DecodedPacket& decoded);
  void append_bytes(text::TextBuffer& out, std::string_view name, std::uint32_t offset, Bytes bytes,
                    std::uint32_t length);
  void append_icrc(text::TextBuffer& out, const DecodedPacket& decoded);

  Options options_;
  UtcText utc_;
};

}  // namespace roce::packet_text
