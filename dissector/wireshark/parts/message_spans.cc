// SPDX-License-Identifier: BSD-2-Clause
#include "wireshark/parts/message_spans.h"

#include <algorithm>
#include <iterator>

namespace roce::plugin {

namespace {

std::uint32_t packets_for(std::uint32_t bytes, std::uint32_t mtu) {
  return bytes == 0 ? 1 : bytes / mtu + (bytes % mtu != 0 ? 1U : 0U);
}

}  // namespace

void MessageSpans::observe(RequestChannel channel, std::int64_t psn, const analysis::Observation& observation) {
  State& state = channels_[channel];
  const OpcodeInfo& info = observation.info();
  // Both directions of a connection have the same path MTU.
  const bool is_full = info.position == Position::first || info.position == Position::middle;
  if (is_full) state.read_mtu = std::max(state.read_mtu, observation.payload_length);
  if (info.operation == Operation::read_response) return;
  if (begins_message(info.position)) begin_message(state, psn, observation);
  if (info.position == Position::only) return;
  mark_seen(state, psn);
  if (info.position != Position::last) return;
  const auto place = std::ranges::lower_bound(state.lasts, psn);
  if (place == state.lasts.end() || *place != psn) state.lasts.insert(place, psn);
}

void MessageSpans::begin_message(State& state, std::int64_t psn, const analysis::Observation& observation) {
  const auto place = std::ranges::lower_bound(state.begins, psn, {}, &Begin::psn);
  if (place != state.begins.end() && place->psn == psn) return;
  const OpcodeInfo& info = observation.info();
  Begin begin{.psn = psn, .packet = observation.id, .payload = observation.payload_length};
  if (info.operation == Operation::read_request) {
    begin.is_read = true;
    begin.length = observation.dma_length;
    begin.address_end = observation.virtual_address + observation.dma_length;
    // A READ that is repeated from its middle asks for the rest of the same data.
    if (place != state.begins.begin() && observation.has_reth) {
      const Begin& before = *std::prev(place);
      const bool is_rest = before.is_read && before.address_end == begin.address_end && before.length > begin.length;
      if (is_rest && begin.length != 0) return;
    }
  } else if (info.position == Position::only) {
    begin.count = 1;
  } else if (info.operation == Operation::write && observation.has_reth && observation.payload_length != 0) {
    begin.count = packets_for(observation.dma_length, observation.payload_length);
  }
  state.begins.insert(place, begin);
}

void MessageSpans::mark_seen(State& state, std::int64_t psn) {
  auto behind = std::ranges::upper_bound(state.runs, psn, {}, &Run::first);
  if (behind != state.runs.begin()) {
    Run& before = *std::prev(behind);
    if (psn < before.end) return;
    if (psn == before.end) {
      ++before.end;
      if (behind != state.runs.end() && behind->first == before.end) {
        before.end = behind->end;
        state.runs.erase(behind);
      }
      return;
    }
  }
  if (behind != state.runs.end() && behind->first == psn + 1) {
    behind->first = psn;
    return;
  }
  state.runs.insert(behind, {psn, psn + 1});
}

bool MessageSpans::all_seen(const State& state, std::int64_t first, std::int64_t last) {
  const auto behind = std::ranges::upper_bound(state.runs, first, {}, &Run::first);
  return behind != state.runs.begin() && last < std::prev(behind)->end;
}

std::uint32_t MessageSpans::count_of(const State& state, const Begin& begin) {
  if (begin.count != 0) return begin.count;
  if (begin.is_read) return state.read_mtu != 0 ? packets_for(begin.length, state.read_mtu) : 0;
  const auto last = std::ranges::upper_bound(state.lasts, begin.psn);
  if (last == state.lasts.end() || !all_seen(state, begin.psn, *last)) return 0;
  return static_cast<std::uint32_t>(*last - begin.psn + 1);
}

std::optional<MessageSpans::Span> MessageSpans::find(RequestChannel channel, std::int64_t psn) const {
  const State* const found = channels_.find(channel);
  if (found == nullptr) return std::nullopt;
  const State& state = *found;
  const auto behind = std::ranges::upper_bound(state.begins, psn, {}, &Begin::psn);
  if (behind == state.begins.begin()) return std::nullopt;
  const Begin& begin = *std::prev(behind);
  const std::uint32_t count = count_of(state, begin);
  if (count != 0 && psn >= begin.psn + count) return std::nullopt;
  if (count == 0 && !begin.is_read && !all_seen(state, begin.psn, psn)) return std::nullopt;
  return Span{begin.psn, count, begin.is_read ? state.read_mtu : begin.payload, begin.packet};
}

std::uint32_t MessageSpans::begun_after(RequestChannel channel, std::int64_t psn) const {
  const State* const found = channels_.find(channel);
  if (found == nullptr) return 0;
  const auto first = std::ranges::upper_bound(found->begins, psn, {}, &Begin::psn);
  return static_cast<std::uint32_t>(found->begins.end() - first);
}

}  // namespace roce::plugin
