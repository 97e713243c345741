// SPDX-License-Identifier: BSD-2-Clause
// From PFC and PAUSE frames to the times in which a priority was paused.
#include "analyze/charts/pause_spans.h"

#include <algorithm>

namespace roce::analyze {

namespace {

using analysis::PauseSummary;

std::int64_t time_of(std::uint16_t quanta, std::uint64_t bits_per_second) {
  constexpr std::uint64_t kBitsPerQuantum = 512;
  constexpr std::uint64_t kSecond = 1'000'000'000;
  return static_cast<std::int64_t>(quanta * kBitsPerQuantum * kSecond / bits_per_second);
}

}  // namespace

void PauseSpans::observe(const analysis::Observation& packet, const Sink& sink) {
  const Key key{packet.point, packet.source_mac};
  if (stations_.size() >= kStations && stations_.find(key) == stations_.end()) return;
  const std::int64_t now = packet.time.time_since_epoch().count();
  if (packet.kind == PacketKind::pause) {
    apply(key, PauseSummary::kAll, now, packet.pause_quanta[0], sink);
    return;
  }
  for (std::size_t priority = 0; priority < packet.pause_quanta.size(); ++priority) {
    if ((packet.pause_enabled >> priority & 1U) != 0) apply(key, priority, now, packet.pause_quanta[priority], sink);
  }
}

void PauseSpans::apply(const Key& key, std::size_t priority, std::int64_t now, std::uint16_t quanta, const Sink& sink) {
  Open& open = stations_[key][priority];
  const bool has_expired = open.active && speed_ != 0 && now >= open.end_ns;
  if (has_expired) emit(key, priority, open.end_ns, sink);
  if (quanta == 0) {
    if (open.active) emit(key, priority, now, sink);
    return;
  }
  if (!open.active) open = {true, now, 0};
  if (speed_ != 0) open.end_ns = now + time_of(quanta, speed_);
}

void PauseSpans::emit(const Key& key, std::size_t priority, std::int64_t end_ns, const Sink& sink) {
  Open& open = stations_[key][priority];
  open.active = false;
  const PauseSpan span{key.second, key.first, static_cast<std::uint8_t>(priority), open.begin_ns, end_ns};
  if (span.begin_ns >= span.end_ns) return;
  sink(span);
  if (spans_.size() < kMost) {
    spans_.push_back(span);
  } else {
    ++not_kept_;
  }
}

void PauseSpans::finish(std::int64_t latest_ns, const Sink& sink) {
  if (speed_ == 0) return;
  for (auto& [key, priorities] : stations_) {
    for (std::size_t priority = 0; priority < priorities.size(); ++priority) {
      if (!priorities[priority].active) continue;
      emit(key, priority, std::min(latest_ns, priorities[priority].end_ns), sink);
    }
  }
}

}  // namespace roce::analyze
