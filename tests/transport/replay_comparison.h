// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replayed_responder.h"

namespace roce::test {

/// Something that only one of the two responders did.
struct Deviation {
  std::string capture;
  /// Number of the packet: the real responder's answer in the .tx capture, or the request that ours answered in the
  /// capture of the packets that arrived. 0: a receive that only the real one completed; the truth file gives none.
  std::uint64_t number = 0;
  bool ours = false;  ///< ours did it and the real one did not
  std::string what;

  friend bool operator==(const Deviation&, const Deviation&) = default;
};

/// Returns a text such as `rc-rnr request 12: only ours: RC_ACKNOWLEDGE …`.
[[nodiscard]] std::string describe(const Deviation& deviation);

/// The number of things compared.
struct ReplayTotals {
  std::uint64_t connections = 0;
  std::uint64_t requests = 0;    ///< packets fed
  std::uint64_t duplicates = 0;  ///< requests with a PSN that was executed before
  std::uint64_t corrupt = 0;     ///< requests with a wrong ICRC
  std::uint64_t answers = 0;     ///< packets sent by the real responders
  std::uint64_t acks = 0;
  std::uint64_t atomics = 0;
  std::uint64_t reads = 0;  ///< READs whose answer is complete
  std::uint64_t sequence_naks = 0;
  std::uint64_t access_naks = 0;       ///< 0x62
  std::uint64_t operational_naks = 0;  ///< 0x63
  std::uint64_t rnr_naks = 0;
  std::uint64_t receipts = 0;  ///< completed receives that the truth files list

  ReplayTotals& operator+=(const ReplayTotals& other);
  friend bool operator==(const ReplayTotals&, const ReplayTotals&) = default;
};
[[nodiscard]] std::string describe(const ReplayTotals& totals);

struct ReplayResult {
  std::vector<Deviation> deviations;
  ReplayTotals totals{};
};

/// Replays all connections of a capture. Answers are compared in order; if they differ, as few as possible are reported
/// as deviations.
[[nodiscard]] ReplayResult replay(const std::string& capture,
                                  const transport::Profile& profile = transport::rxe_profile());

}  // namespace roce::test
