// SPDX-License-Identifier: BSD-2-Clause
// Congestion: marks, the CNPs that answer them, and whether the sender slows down.
#include <algorithm>
#include <limits>

#include "analysis/tracker_state.h"

namespace roce::analysis {

namespace {

std::int64_t interval_of(Time time) {
  const auto ns = time.time_since_epoch().count();
  const auto width = RecentBytes::kWidth.count();
  return ns >= 0 ? ns / width : -((-ns + width - 1) / width);
}

std::size_t slot_of(std::int64_t interval) {
  return static_cast<std::size_t>(static_cast<std::uint64_t>(interval) % RecentBytes::kIntervals);
}

CongestionSummary& summary_of(Stream& stream, std::uint8_t direction) {
  std::vector<CongestionSummary>& all = stream.summary.congestion;
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const CongestionSummary& each) { return each.direction >= direction; });
  if (at != all.end() && at->direction == direction) return *at;
  CongestionSummary fresh;
  fresh.direction = direction;
  return *all.insert(at, fresh);
}

// Does nothing for a sender that has only just begun or that was silent: it has no earlier rate that it could lower.
void begin_reaction(CongestionState& state, Time now) {
  const RecentBytes::Window before = state.recent.before(now);
  if (!state.first_data || *state.first_data > before.begin || before.bytes == 0) return;
  state.reaction.make() = {now, before, 0};
}

void end_reaction(Stream& stream, std::uint8_t direction) {
  CongestionState& state = stream.congestion[direction].make();
  const Reaction measured = *state.reaction;
  CnpReaction& reaction = summary_of(stream, direction).reaction;
  const Duration time_before = *measured.begin - measured.before.begin;
  ++reaction.cnps;
  reaction.bytes_before += measured.before.bytes;
  reaction.bytes_after += measured.bytes_after;
  reaction.time_before += time_before;
  reaction.time_after += kReactionWindow;
  const auto rate = [](std::uint64_t bytes, Duration time) {
    return static_cast<double>(bytes) / static_cast<double>(time.count());
  };
  if (rate(measured.bytes_after, kReactionWindow) < rate(measured.before.bytes, time_before)) ++reaction.slowed;
  state.reaction = {};
}

void on_data(Stream& stream, std::uint8_t direction, const Observation& packet) {
  CongestionState& state = stream.congestion[direction].make();
  if (!state.first_data) state.first_data = packet.time;
  state.recent.add(packet.time, packet.wire_length);
  if (state.reaction->begin && packet.time >= *state.reaction->begin) {
    state.reaction.make().bytes_after += packet.wire_length;
  }
  if (!packet.is_ce()) return;
  CongestionSummary& summary = summary_of(stream, direction);
  ++summary.marks;
  ++summary.marks_since_cnp;
  if (!state.mark) state.mark = packet.time;
}

// A-CN-2 (a CNP answers the marks since the CNP before)
void on_cnp(Stream& stream, std::uint8_t direction, const Observation& packet) {
  CongestionState& state = stream.congestion[direction].make();
  CongestionSummary& summary = summary_of(stream, direction);
  ++summary.cnps;
  if (state.mark) {
    summary.mark_to_cnp.add(packet.time - *state.mark);
  } else if (state.first_data) {
    ++summary.cnps_without_mark;
  }
  if (state.cnp) summary.cnp_spacing.add(packet.time - *state.cnp);
  const bool is_first_of_series = !state.cnp || packet.time - *state.cnp >= kReactionWindow;
  if (is_first_of_series && !state.reaction->begin) begin_reaction(state, packet.time);
  state.mark.reset();
  summary.marks_since_cnp = 0;
  state.cnp = packet.time;
}

// Takes over the CNPs of another stream, which are about this direction's data.
void take_cnps(Stream& stream, std::uint8_t direction, const CongestionState& cnps) {
  if (!cnps.cnp) return;
  CongestionState& state = stream.congestion[direction].make();
  state.cnp = cnps.cnp;
  if (!state.mark || *cnps.cnp < *state.mark) return;
  // The CNP that answered the mark is not known: only the latest one is remembered.
  state.mark.reset();
  summary_of(stream, direction).marks_since_cnp = 0;
}

}  // namespace

bool is_data(const Observation& packet) {
  const Operation operation = packet.info().operation;
  return operation != Operation::acknowledge && operation != Operation::cnp;
}

void RecentBytes::add(Time time, std::uint32_t bytes) {
  const std::int64_t interval = interval_of(time);
  if (interval - newest_ >= static_cast<std::int64_t>(kIntervals)) {
    bytes_.fill(0);
    newest_ = interval;
  }
  while (newest_ < interval) bytes_[slot_of(++newest_)] = 0;
  // A packet that is older than all intervals, because a clock went backwards, does not count.
  if (newest_ - interval >= static_cast<std::int64_t>(kIntervals)) return;
  std::uint32_t& sum = bytes_[slot_of(interval)];
  sum += std::min(bytes, std::numeric_limits<std::uint32_t>::max() - sum);
}

RecentBytes::Window RecentBytes::before(Time end) const {
  const std::int64_t last = interval_of(end);
  const std::int64_t first = last - static_cast<std::int64_t>(kIntervals) + 1;
  Window window{0, Time{first * kWidth}};
  for (std::int64_t i = std::max(first, newest_ - static_cast<std::int64_t>(kIntervals) + 1);
       i <= std::min(last, newest_); ++i) {
    window.bytes += bytes_[slot_of(i)];
  }
  return window;
}

void on_congestion(TrackerState& state, const Flow& flow, Sighting sighting) {
  const Observation& packet = *state.packet;
  Stream& stream = *flow.stream;
  if (!stream.is_connected) return;
  for (std::uint8_t direction = 0; direction < 2; ++direction) {
    const std::optional<Time>& begin = stream.congestion[direction]->reaction->begin;
    if (begin && packet.time - *begin >= kReactionWindow) {
      end_reaction(stream, direction);
    }
  }
  if (state.result.role == PacketRole::cnp) {
    // A copy of a CNP would otherwise look like the next CNP.
    const bool is_copy = flow.has_ip_id && flow.ip_id_varies && packet.ip_id == flow.last_ip_id;
    if (!is_copy) on_cnp(stream, flow.direction == 0 ? 1 : 0, packet);
    return;
  }
  if (is_data(packet) && sighting != Sighting::copy) on_data(stream, flow.direction, packet);
}

void adopt_congestion(Stream& stream, const Stream& before) {
  for (const CongestionSummary& each : before.summary.congestion) {
    CongestionSummary& summary = summary_of(stream, each.direction == 0 ? 1 : 0);
    summary.marks += each.marks;
    summary.cnps += each.cnps;
    summary.marks_since_cnp += each.marks_since_cnp;
    summary.cnp_spacing.merge(each.cnp_spacing);
  }
  const Lazy<CongestionState> cnps_of_new_direction = std::move(stream.congestion[1]);
  stream.congestion[1] = before.congestion[0];
  take_cnps(stream, 0, *before.congestion[1]);
  take_cnps(stream, 1, *cnps_of_new_direction);
}

}  // namespace roce::analysis
