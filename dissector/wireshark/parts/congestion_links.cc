// SPDX-License-Identifier: BSD-2-Clause
#include "wireshark/parts/congestion_links.h"

#include "roce/analysis/congestion.h"

namespace roce::plugin {

void CongestionLinks::forget_old(State& state, Time now) {
  while (!state.window.empty() && now - state.window.front().time > analysis::kReactionWindow) {
    state.window_bytes -= state.window.front().bytes;
    state.window.pop_front();
  }
}

void CongestionLinks::measure(State& state, Time now, std::uint32_t bytes) {
  if (!state.measured) return;
  Cnp& cnp = cnps_[state.measured];
  if (now - state.measured_since > analysis::kReactionWindow) {
    cnp.is_measured = true;
    state.measured = {};
  } else {
    cnp.bytes_after += bytes;
  }
}

void CongestionLinks::data(RequestChannel sender, const analysis::Observation& observation) {
  State& state = states_[sender];
  forget_old(state, observation.time);
  state.window.push_back({observation.time, observation.wire_length});
  state.window_bytes += observation.wire_length;
  measure(state, observation.time, observation.wire_length);
  if (!observation.is_ce()) return;
  if (state.marks.empty()) state.first_mark_time = observation.time;
  state.marks.push_back(observation.id);
}

void CongestionLinks::cnp(RequestChannel sender, const analysis::Observation& observation) {
  State& state = states_[sender];
  forget_old(state, observation.time);
  measure(state, observation.time, 0);
  Cnp& cnp = cnps_[observation.id];
  cnp.bytes_before = state.window_bytes;
  cnp.marks = static_cast<std::uint32_t>(state.marks.size());
  if (!state.marks.empty()) {
    cnp.first_mark = state.marks.front();
    cnp.since_mark = observation.time - state.first_mark_time;
  }
  for (const analysis::PacketId mark : state.marks) by_mark_[mark] = observation.id;
  state.marks.clear();
  // Of CNPs that follow each other closely, the first one counts.
  if (state.measured || state.window.empty()) return;
  state.measured = observation.id;
  state.measured_since = observation.time;
}

const CongestionLinks::Cnp* CongestionLinks::find_cnp(analysis::PacketId packet) const {
  const auto found = cnps_.find(packet);
  return found != cnps_.end() ? &found->second : nullptr;
}

analysis::PacketId CongestionLinks::cnp_for_mark(analysis::PacketId packet) const {
  const auto found = by_mark_.find(packet);
  return found != by_mark_.end() ? found->second : analysis::PacketId{};
}

}  // namespace roce::plugin
