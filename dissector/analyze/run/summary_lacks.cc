// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/summary_lacks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string_view>

#include "analyze/run/stream_figures.h"
#include "text/human_units.h"

namespace roce::analyze {

namespace {

using analysis::StreamSummary;
using analysis::VerdictKind;
using text::counted;

void add_unchecked(const CaptureCounts& counts, std::vector<std::string>& lacks) {
  constexpr std::array<std::string_view, 5> kReasons{"", "no ICRC", "cut by the snap length", "IP fragments",
                                                     "malformed"};
  if (counts.unchecked() == 0) return;
  std::vector<std::string> parts;
  for (std::size_t i = 1; i < kReasons.size(); ++i) {
    if (counts.icrc_unchecked[i] == 0) continue;
    parts.push_back(fmt::format("{} {}", text::count_text(counts.icrc_unchecked[i]), kReasons[i]));
  }
  lacks.push_back(
      fmt::format("{} not checked: {}", counted(counts.unchecked(), "ICRC was", "ICRCs were"), fmt::join(parts, ", ")));
}

void add_file_lacks(const CaptureFile& file, std::vector<std::string>& lacks) {
  std::vector<std::string> parts;
  const auto add = [&](std::uint64_t count, std::string_view by) {
    if (count != 0) parts.push_back(fmt::format("{} {}", text::count_text(count), by));
  };
  add(file.dropped_interface, "by the interface");
  add(file.dropped_os, "by the operating system");
  add(file.dropped_between, "between its packets");
  if (!parts.empty())
    lacks.push_back(fmt::format("{}: the capture lost packets: {}", file.path, fmt::join(parts, ", ")));
  for (const std::string& problem : file.problems) lacks.push_back(problem);
}

}  // namespace

std::vector<std::string> find_lacks(const AnalysisResult& result) {
  const CaptureCounts& counts = result.counts;
  std::vector<std::string> lacks;
  for (const CaptureFile& file : result.files) add_file_lacks(file, lacks);
  const std::uint64_t missed = result.verdicts.of(VerdictKind::missed_by_capture).packets;
  if (missed != 0)
    lacks.push_back(counted(missed, "packet that arrived is", "packets that arrived are") + " not in it");
  std::uint64_t connections = 0;
  std::uint64_t one_way = 0;
  std::uint64_t begun = 0;
  for (const StreamSummary& stream : result.streams) {
    if (!is_connected(stream)) continue;
    ++connections;
    if (stream.service != Service::uc && !(stream.directions[0].seen && stream.directions[1].seen)) ++one_way;
    if (stream.is_open_start) ++begun;
  }
  if (one_way != 0) {
    lacks.push_back(fmt::format("{} of {} seen in one direction only: what became of their packets cannot be told",
                                text::count_text(one_way), counted(connections, "connection was", "connections were")));
  }
  if (begun != 0) {
    lacks.push_back(counted(begun, "connection", "connections") + " had begun before it");
  }
  if (counts.cut_short != 0)
    lacks.push_back(counted(counts.cut_short, "frame was", "frames were") + " cut by the snap length");
  add_unchecked(counts, lacks);
  if (counts.malformed != 0) {
    lacks.push_back(counted(counts.malformed, "RoCE packet is", "RoCE packets are") +
                    " malformed and were not followed");
  }
  if (counts.without_time != 0) lacks.push_back(counted(counts.without_time, "frame has", "frames have") + " no time");
  if (counts.clock_backwards != 0) {
    lacks.push_back(fmt::format("{} earlier than the frame before: durations may be wrong",
                                counted(counts.clock_backwards, "frame is", "frames are")));
  }
  for (std::string& lack : memory_lacks(result)) lacks.push_back(std::move(lack));
  return lacks;
}

std::vector<std::string> memory_lacks(const AnalysisResult& result) {
  std::vector<std::string> lacks;
  if (result.evictions.streams != 0 || result.evictions.requests != 0) {
    lacks.push_back(fmt::format("memory is bounded: {} closed early, and {} forgotten before they were answered{}",
                                counted(result.evictions.streams, "stream was", "streams were"),
                                counted(result.evictions.requests, "request was", "requests were"),
                                result.evictions.streams != 0 ? " (--max-streams follows more at a time)" : ""));
  }
  if (result.streams_unlisted != 0) {
    lacks.push_back(
        fmt::format("memory is bounded: {} not listed, and not among the connections and hosts; those that "
                    "are listed are the worst (--max-streams lists more)",
                    counted(result.streams_unlisted, "stream is", "streams are")));
  }
  if (result.streams_left_out != 0) {
    lacks.push_back("memory is bounded: " +
                    counted(result.streams_left_out, "stream that had ended in an earlier file is",
                            "streams that had ended in earlier files are") +
                    " not listed");
  }
  if (result.uncounted_pause_frames != 0) {
    lacks.push_back("memory is bounded: " +
                    counted(result.uncounted_pause_frames, "PFC or PAUSE frame was", "PFC or PAUSE frames were") +
                    " not counted, of more stations than are remembered");
  }
  if (result.uncounted_notices != 0) {
    lacks.push_back("memory is bounded: " +
                    counted(result.uncounted_notices, "ARP, neighbour discovery or ICMP message was",
                            "ARP, neighbour discovery or ICMP messages were") +
                    " not counted, of more addresses than are remembered");
  }
  return lacks;
}

}  // namespace roce::analyze
