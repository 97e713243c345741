// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "roce/analysis/verdict.h"
#include "wireshark/epan/epan.h"
#include "wireshark/parts/field_numbers.h"
#include "wireshark/parts/records.h"

namespace roce::plugin {

/// The fields of the analysis, all under `roce.analysis.` except `roce.stream`.
enum class AnalysisField : std::uint8_t {
  tree,
  stream,
  direction,
  source,
  destination,
  end,
  numbered_source,
  numbered_destination,
  numbered_end,
  role,
  relative_psn,
  message,
  message_first,
  packet,
  packets,
  in_flight,
  credits_left,
  base_round_trip,
  since_last,
  request,
  response,
  latency,
  sent_before,
  sent_again,
  nak_in,
  gap_in,
  gap_filled,
  cm_request,
  cm_before,
  cm_next,
  cnp_in,
  first_mark,
  marks,
  mark_to_cnp,
  rate_before,
  rate_after,
  verdict,
  verdict_name,
  text,
  rule,
  cause,
  cause_name,
  spurious,
  other,
  first_psn,
  psn_count,
  elapsed,
  tries,
  about,
  count,
};

inline constexpr auto kVerdictCount = static_cast<std::size_t>(analysis::VerdictKind::count);

/// The handles under which Wireshark knows the plugin's fields.
struct Fields {
  int proto = -1;
  int tree = -1;
  std::array<int, static_cast<std::size_t>(HeaderId::count)> header{};
  std::array<int, static_cast<std::size_t>(HeaderId::count)> header_tree{};
  std::vector<int> field;          ///< by `FieldNumbers`; -1: not shown
  std::vector<unsigned> encoding;  ///< for the entries of `field`
  std::array<int, static_cast<std::size_t>(Derived::count)> derived{};
  int icrc_explanation = -1;
  int reassembled = -1;  ///< a message of several packets, in the packet that completed it
  int reassembled_packet = -1;
  int reassembled_length = -1;
  int reassembled_data = -1;
  int reassembled_in = -1;  ///< in the other packets of the message
  int reassembled_tree = -1;
  std::array<int, static_cast<std::size_t>(AnalysisField::count)> analysis{};
  int analysis_tree = -1;
  int verdict_tree = -1;
  expert_field icrc_bad = EI_INIT;
  expert_field malformed = EI_INIT;
  expert_field cut_short = EI_INIT;
  expert_field builtin_filter = EI_INIT;
  std::array<expert_field, kVerdictCount> verdict{};

  [[nodiscard]] int of(Derived id) const { return derived[static_cast<std::size_t>(id)]; }
  [[nodiscard]] int of(AnalysisField id) const { return analysis[static_cast<std::size_t>(id)]; }
};

/// Registers the protocol `roce` with all its fields: those of the codec's field table by their names (`roce.bth.psn`),
/// values derived from them (`roce.icrc.status`) and the analysis (`roce.analysis.retransmission`). Call it once.
void register_fields();
/// Returns the registered fields.
[[nodiscard]] const Fields& fields();
/// Returns the same for epan, which takes expert fields by non-const pointer but does not change them.
[[nodiscard]] Fields& mutable_fields();

}  // namespace roce::plugin
