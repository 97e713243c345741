// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <string>

#include "analyze/decode/decode_options.h"
#include "packet_text/packet_format.h"
#include "packet_text/time_text.h"
#include "text/palette.h"
#include "text/terminal.h"

namespace roce::analyze {

/// Converts addresses to text and caches the results, since a capture has few addresses and many packets.
class AddressTexts {
 public:
  /// Returns a text that is valid until the next call.
  [[nodiscard]] std::string_view text(const Gid& address);

 private:
  struct Entry {
    Gid address;
    std::string text;
  };
  std::array<Entry, 256> entries_;
};

/// Writes one line per packet:
///     number time source → destination QP opcode PSN length ICRC-verdict details
/// The columns of addresses and opcodes widen for longer texts and then stay wide.
class LineFormat final : public packet_text::PacketFormat {
 public:
  struct Options {
    TimeStyle time = TimeStyle::relative;
    bool with_file = false;  ///< begin each line with the file's name
    bool explain = false;
    text::Palette palette;
    text::Charset charset = text::Charset::utf8;
  };

  explicit LineFormat(const Options& options) : options_(options) {}

  void append_packet(text::TextBuffer& out, const packet_text::DecodedPacket& decoded) override;

 private:
  void append_number_and_time(text::TextBuffer& out, const packet_text::FrameInfo& frame);
  void append_addresses(text::TextBuffer& out, const Packet& whole);
  void append_column(text::TextBuffer& out, std::string_view text, std::size_t& width, bool right);
  void append_verdict(text::TextBuffer& out, const packet_text::DecodedPacket& decoded);

  Options options_;
  AddressTexts addresses_;
  packet_text::UtcText utc_;
  std::size_t source_width_ = 9;
  std::size_t destination_width_ = 9;
  std::size_t opcode_width_ = 21;
};

}  // namespace roce::analyze
