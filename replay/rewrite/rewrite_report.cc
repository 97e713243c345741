// SPDX-License-Identifier: BSD-2-Clause
#include "replay/rewrite/rewrite_report.h"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "command_line/counted.h"
#include "replay/survey/capture_surveys.h"

namespace roce::replay {

namespace {

/// Returns sentences about what a user should know, beyond the counts.
std::vector<std::string> remarks(const RewriteReport& report) {
  const RewriteCounts& counts = report.counts;
  std::vector<std::string> lines;
  const auto add = [&lines](std::uint64_t count, const std::string& text) {
    if (count != 0) lines.push_back(fmt::format("{} {}", count, text));
  };
  add(counts.bad_icrc, report.keeps_bad_icrc ? "ICRCs were wrong and still are"
                                             : "ICRCs were wrong and are right now; --keep-bad-icrc keeps them wrong");
  add(counts.bad_checksums,
      report.keeps_bad_checksums ? "checksums were wrong and still are" : "checksums were wrong and are right now");
  add(counts.cut_short, "RoCE packets were cut by the snap length: they have no ICRC, and cannot be sent");
  add(counts.icrc_not_checked, "RoCE packets are malformed or fragments: no ICRC was found in them");
  add(counts.super_frames, "super-frames were cut into the packets that were on the wire");
  add(counts.left_out, "frames that are no RoCE packets were left out");
  add(counts.unconvertible,
      "frames that are no RoCE packets were left out: the new addresses do not fit their headers");
  if (report.segments) {
    const SegmentCounts& segments = report.segments->counts;
    add(segments.incomplete, "packets were left out: not all that would be one packet with them was captured whole");
    add(segments.answers_left_out, "ACKs and NAKs were left out: they answer a part of what is one packet now");
    for (const LeftConnection& left : report.segments->left) lines.push_back(text_of(left));
  }
  for (std::size_t i = 0; i < counts.fields.size(); ++i) {
    if (counts.fields[i] == 0)
      lines.push_back(fmt::format("--set {} met no packet with such a header", report.fields[i]));
  }
  for (const std::string& warning : report.warnings) lines.push_back(warning);
  return lines;
}

}  // namespace

void print_text(const RewriteReport& report) {
  const RewriteCounts& counts = report.counts;
  fmt::print(stderr, "{}: {}, {}; {} {}, {} of them changed\n", report.in,
             command_line::counted(counts.frames, "frame", "frames"),
             command_line::counted(counts.roce_packets, "RoCE packet", "RoCE packets"),
             command_line::counted(report.written, "frame", "frames"),
             report.out.empty() ? "would be written" : "written to " + report.out, counts.changed);
  std::string changes;
  for (std::size_t i = 0; i < counts.changes.size(); ++i) {
    if (counts.changes[i] == 0) continue;
    changes += fmt::format("{}{} {}", changes.empty() ? "changed: " : ", ", to_string(static_cast<Change>(i)),
                           counts.changes[i]);
  }
  if (!changes.empty()) fmt::print(stderr, "{}\n", changes);
  if (report.segments) {
    const SegmentCounts& segments = report.segments->counts;
    fmt::print(stderr, "path MTU {}: {} connections cut anew; {} packets cut and {} joined to {}\n",
               report.segments->path_mtu, report.segments->connections, segments.cut, segments.joined, segments.made);
  }
  if (report.faults) {
    fmt::print(stderr, "faults: {} dropped, {} copies added\n", report.faults->dropped, report.faults->duplicates);
  }
  for (const std::string& line : remarks(report)) fmt::print(stderr, "{}\n", line);
}

void print_json(const RewriteReport& report) {
  const RewriteCounts& counts = report.counts;
  nlohmann::ordered_json changes = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < counts.changes.size(); ++i) {
    changes[std::string{to_string(static_cast<Change>(i))}] = counts.changes[i];
  }
  nlohmann::ordered_json json{
      {"command", "rewrite"},
      {"in", report.in},
      {"out", report.out.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(report.out)},
      {"frames", counts.frames},
      {"roce_packets", counts.roce_packets},
      {"written", report.written},
      {"changed", counts.changed},
      {"left_out", counts.left_out},
      {"unconvertible", counts.unconvertible},
      {"super_frames", counts.super_frames},
      {"bad_icrc", counts.bad_icrc},
      {"bad_checksums", counts.bad_checksums},
      {"cut_short", counts.cut_short},
      {"icrc_not_checked", counts.icrc_not_checked},
      {"changes", changes}};
  if (report.segments) {
    const SegmentReport& segments = *report.segments;
    nlohmann::ordered_json left = nlohmann::ordered_json::array();
    for (const LeftConnection& one : segments.left) {
      left.push_back({{"connection", one.name}, {"reason", to_string(one.reason)}});
    }
    json["path_mtu"] = {{"bytes", segments.path_mtu},
                        {"connections", segments.connections},
                        {"left", left},
                        {"cut", segments.counts.cut},
                        {"joined", segments.counts.joined},
                        {"made", segments.counts.made},
                        {"incomplete", segments.counts.incomplete},
                        {"answers_left_out", segments.counts.answers_left_out}};
  }
  if (report.faults) {
    json["faults"] = {{"dropped", report.faults->dropped}, {"duplicates", report.faults->duplicates}};
  }
  json["remarks"] = remarks(report);
  fmt::print("{}\n", json.dump());
}

}  // namespace roce::replay
