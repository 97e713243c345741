// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analyze/decode/decode_options.h"
#include "analyze/filter/filter.h"
#include "command_line/outcome.h"
#include "packet_text/packet_format.h"
#include "roce/link/capture_reader.h"
#include "text/output.h"

namespace roce::analyze {

/// Counts of the packets that passed the filter.
struct DecodeCounts {
  std::uint64_t frames = 0;
  std::uint64_t roce = 0;
  std::uint64_t good = 0;
  std::uint64_t bad = 0;
  std::uint64_t unchecked = 0;
};

/// Decodes inputs one after the other to one output. Problems of an input go to standard error.
class DecodeRun {
 public:
  /// `progress`: show on standard error how much of a long file has been read. All references must outlive the object.
  DecodeRun(const DecodeOptions& options, const PacketFilter& filter, packet_text::PacketFormat& format,
            text::Output& output, bool progress);

  /// Decodes a capture file, "-" for standard input.
  ExitCode decode_file(const std::string& path);
  /// Decodes frames given as hex text; `source` names the text in messages.
  ExitCode decode_hex(std::string_view text, const std::string& source);

  [[nodiscard]] const DecodeCounts& counts() const { return counts_; }

 private:
  class Source;

  void decode_records(Source& source);
  void decode_roce(const Packet& packet, const IcrcVerdict& icrc, packet_text::FrameInfo& frame);
  void judge(const packet_text::DecodedPacket& decoded);
  [[nodiscard]] bool is_shown(const Packet& packet) const;
  void emit(const packet_text::DecodedPacket& decoded);

  const DecodeOptions& options_;
  const PacketFilter& filter_;
  packet_text::PacketFormat& format_;
  text::Output& output_;
  bool progress_;
  DecodeCounts counts_;
};

}  // namespace roce::analyze
