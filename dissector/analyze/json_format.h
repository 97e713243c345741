// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "analyze/packet_format.h"
#include "analyze/time_text.h"

namespace roce::analyze {

/// Writes one JSON object per packet, each on one line; docs/analyze.md describes it. Each header is an object under
/// its name in the field table, with its fields under theirs.
class JsonFormat final : public PacketFormat {
 public:
  struct Options {
    bool payload = false;
    bool explain = false;
  };

  explicit JsonFormat(const Options& options) : options_(options) {}

  void append_packet(TextBuffer& out, const DecodedPacket& decoded) override;

 private:
  Options options_;
  UtcText utc_;
};

}  // namespace roce::analyze
