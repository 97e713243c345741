// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "wireshark/parts/capture_analysis.h"
#include "wireshark/parts/text.h"

namespace roce::plugin {

/// The findings about the packets of a frame, for the Info column: each fact once, the worst first.
class Marks {
 public:
  /// Adds what is known of one packet. `facts` may be null, and so may `analysis` then.
  void add(IcrcStatus icrc, const CaptureAnalysis* analysis, const PacketFacts* facts) noexcept;
  [[nodiscard]] bool has(analysis::VerdictKind kind) const { return (kinds_ & bit_of(kind)) != 0; }
  [[nodiscard]] bool has_bad_icrc() const { return has_bad_icrc_; }
  /// Returns the marks as `[ICRC bad] [RoCE NAK: PSN Sequence Error] `; empty if there are none. A CNP has no mark:
  /// its opcode says it.
  [[nodiscard]] Text text() const noexcept;

 private:
  static constexpr std::uint64_t bit_of(analysis::VerdictKind kind) {
    static_assert(static_cast<unsigned>(analysis::VerdictKind::count) <= 64);
    return std::uint64_t{1} << static_cast<unsigned>(kind);
  }

  std::uint64_t kinds_ = 0;
  bool has_bad_icrc_ = false;
};

/// Returns a packet in one line, for the Info column, without what its marks say: a CE mark, the kind of a NAK.
[[nodiscard]] Text packet_text(const Packet& packet, const Marks& marks) noexcept;

}  // namespace roce::plugin
