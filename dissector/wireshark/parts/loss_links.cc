// SPDX-License-Identifier: BSD-2-Clause
#include "wireshark/parts/loss_links.h"

#include <cstddef>
#include <ranges>

namespace roce::plugin {

using analysis::Verdict;
using analysis::VerdictKind;

void LossLinks::observe(RequestChannel channel, const Judged& judged) {
  for (const Verdict& verdict : judged.verdicts) {
    switch (verdict.kind) {
      case VerdictKind::gap: {
        const std::int64_t first = judged.psn - judged.wire_psn.distance_from(verdict.first_psn);
        channels_[channel].gaps.push_back({first, first + verdict.psn_count, judged.packet});
        break;
      }
      case VerdictKind::nak_sequence_error:
      case VerdictKind::rnr_nak:
        take_nak(channels_[channel], judged);
        break;
      case VerdictKind::retransmission:
        take_retransmission(channels_[channel], judged, verdict);
        break;
      case VerdictKind::out_of_order:
        fill_gap(channels_[channel], judged);
        break;
      default:
        break;
    }
  }
}

analysis::PacketId LossLinks::gap_of(const State& state, std::int64_t psn) {
  // The latest one: a go-back may have a gap where there was one before. Older ones have settled.
  constexpr std::size_t kSearched = 64;
  for (const Gap& gap : state.gaps | std::views::reverse | std::views::take(kSearched)) {
    if (gap.first <= psn && psn < gap.end) return gap.shown_by;
  }
  return {};
}

void LossLinks::fill_gap(const State& state, const Judged& judged) {
  const analysis::PacketId gap = gap_of(state, judged.psn);
  if (!gap) return;
  links_[judged.packet].gap = gap;
  Links& of_gap = links_[gap];
  if (!of_gap.filled) of_gap.filled = judged.packet;
}

void LossLinks::take_nak(State& state, const Judged& judged) {
  state.nak = Nak{judged.packet, judged.psn};
  const analysis::PacketId gap = gap_of(state, judged.psn);
  if (!gap) return;
  links_[judged.packet].gap = gap;
  links_[gap].nak = judged.packet;
}

void LossLinks::take_retransmission(const State& state, const Judged& judged, const Verdict& verdict) {
  Links& links = links_[judged.packet];
  const bool is_asked_for = verdict.cause == analysis::Cause::nak || verdict.cause == analysis::Cause::rnr;
  if (is_asked_for && state.nak && judged.psn >= state.nak->psn) {
    links.nak = state.nak->packet;
    Links& of_nak = links_[state.nak->packet];
    if (!of_nak.sent_again) of_nak.sent_again = judged.packet;
  }
  if (verdict.other) {
    links.sent_before = verdict.other;
    links_[verdict.other].sent_again = judged.packet;
  } else {
    fill_gap(state, judged);
  }
}

const LossLinks::Links* LossLinks::find(analysis::PacketId packet) const {
  const auto found = links_.find(packet);
  return found != links_.end() ? &found->second : nullptr;
}

}  // namespace roce::plugin
