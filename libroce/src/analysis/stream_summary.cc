// SPDX-License-Identifier: BSD-2-Clause
// Adds up summaries of the parts of one connection, and saves them.
#include "roce/analysis/stream_summary.h"

#include <algorithm>

#include "analysis/state_members.h"

namespace roce::analysis {

namespace {

constexpr std::string_view kStateKind = "RSTR";

template <typename T, std::size_t N>
void add(std::array<T, N>& sum, const std::array<T, N>& more) {
  for (std::size_t i = 0; i < N; ++i) sum[i] += more[i];
}

void merge(DirectionSummary& sum, const DirectionSummary& more) {
  sum.seen = sum.seen || more.seen;
  sum.packets += more.packets;
  sum.bytes += more.bytes;
  sum.request_packets += more.request_packets;
  sum.request_bytes += more.request_bytes;
  sum.response_bytes += more.response_bytes;
  sum.goodput_bytes += more.goodput_bytes;
  add(sum.messages, more.messages);
  sum.messages_refused += more.messages_refused;
  sum.acks += more.acks;
  sum.cnps += more.cnps;
  sum.ecn_capable += more.ecn_capable;
  sum.latency.merge(more.latency);
  if (more.latest > sum.latest) {
    sum.latest = more.latest;
    sum.unheard = more.unheard;
    if (more.unheard != 0) sum.stalls.make().asked = more.stalls->asked;
  }
  sum.longest_quiet = std::max(sum.longest_quiet, more.longest_quiet);
  if (more.missed->length() > sum.missed->length()) sum.missed = more.missed;
  if (more.stalls->longest.length() > sum.stalls->longest.length()) sum.stalls.make().longest = more.stalls->longest;
  sum.arrived += more.arrived;
  if (more.largest_arrived >= sum.largest_arrived) sum.larger = more.larger;
  sum.largest_arrived = std::max(sum.largest_arrived, more.largest_arrived);
  if (more.full_size != 0) sum.full_size = more.full_size;
}

void merge(CongestionSummary& sum, const CongestionSummary& more) {
  sum.marks += more.marks;
  // Marks after the last CNP stay open until the next one, which may be in `more`.
  sum.marks_since_cnp = more.marks_since_cnp + (more.cnps == 0 ? sum.marks_since_cnp : 0);
  sum.cnps += more.cnps;
  sum.cnps_without_mark += more.cnps_without_mark;
  sum.mark_to_cnp.merge(more.mark_to_cnp);
  sum.cnp_spacing.merge(more.cnp_spacing);
  sum.reaction.cnps += more.reaction.cnps;
  sum.reaction.slowed += more.reaction.slowed;
  sum.reaction.bytes_before += more.reaction.bytes_before;
  sum.reaction.bytes_after += more.reaction.bytes_after;
  sum.reaction.time_before += more.reaction.time_before;
  sum.reaction.time_after += more.reaction.time_after;
}

}  // namespace

void merge(StreamSummary& summary, const StreamSummary& later) {
  // If a host talks to itself, only the QPNs tell the ends apart.
  const bool is_turned =
      later.ends[0] != later.ends[1] ? later.ends[0] != summary.ends[0] : later.qpns[1] != summary.qpns[1];
  const auto place = [&](std::size_t end) { return is_turned ? 1 - end : end; };
  if (summary.service == Service::cnp) summary.service = later.service;
  summary.joined = summary.joined || later.joined;
  for (std::size_t end = 0; end < 2; ++end) {
    if (!summary.qpns[end]) summary.qpns[end] = later.qpns[place(end)];
    merge(summary.directions[end], later.directions[place(end)]);
  }
  if (later.path_mtu != 0) summary.path_mtu = later.path_mtu;
  summary.last = later.last;
  summary.start = std::min(summary.start, later.start);
  summary.end = std::max(summary.end, later.end);
  summary.verdicts += later.verdicts;
  summary.broken += later.broken;
  summary.retransmissions += later.retransmissions;
  summary.spurious_retransmissions += later.spurious_retransmissions;
  summary.lost_psns += later.lost_psns;
  summary.lost_packets += later.lost_packets;
  summary.missed_psns += later.missed_psns;
  summary.unseen_datagrams += later.unseen_datagrams;
  // The later part shows whether they were answered.
  summary.unanswered = later.unanswered;
  for (UnansweredRequest& each : summary.unanswered) {
    each.direction = static_cast<std::uint8_t>(place(each.direction));
  }
  std::ranges::sort(summary.unanswered, {}, &UnansweredRequest::direction);
  for (CongestionSummary more : later.congestion) {
    more.direction = static_cast<std::uint8_t>(place(more.direction));
    const auto at = std::find_if(summary.congestion.begin(), summary.congestion.end(),
                                 [&](const CongestionSummary& each) { return each.direction >= more.direction; });
    if (at != summary.congestion.end() && at->direction == more.direction) {
      merge(*at, more);
    } else {
      summary.congestion.insert(at, more);
    }
  }
}

std::vector<std::byte> save_streams(std::span<const StreamSummary> streams) {
  StateWriter archive;
  archive.number(streams.size());
  for (const StreamSummary& stream : streams) archive(stream);
  return std::move(archive).sealed(kStateKind);
}

tl::expected<std::vector<StreamSummary>, StateError> restore_streams(Bytes state) {
  StateReader archive{state, kStateKind};
  std::vector<StreamSummary> streams;
  archive(streams);
  return archive.end().map([&] { return std::move(streams); });
}

}  // namespace roce::analysis
