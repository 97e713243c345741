// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "packet_text/packet_format.h"
#include "packet_text/time_text.h"

namespace roce::analyze {

/// Writes one JSON object per packet, each on one line; docs/analyze.md describes it. Each header is an object under
/// its name in the field table, with its fields under theirs.
class JsonFormat final : public packet_text::PacketFormat {
 public:
  struct Options {
    bool payload = false;
    bool explain = false;
  };

  explicit JsonFormat(const Options& options) : options_(options) {}

  void append_packet(text::TextBuffer& out, const packet_text::DecodedPacket& decoded) override;

 private:
  Options options_;
  packet_text::UtcText utc_;
};

}  // namespace roce::analyze
