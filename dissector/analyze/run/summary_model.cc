// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/summary_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "analyze/run/pause_storms.h"
#include "analyze/run/stream_figures.h"
#include "analyze/run/summary_lacks.h"
#include "text/human_units.h"

namespace roce::analyze {

namespace {

using analysis::Severity;
using analysis::StreamSummary;
using analysis::VerdictKind;
using text::counted;

/// Returns what to do about retransmissions, by their most frequent cause.
std::string_view advice_on_retransmissions(const JudgedPart& part, std::string_view otherwise) {
  using analysis::Cause;
  analysis::Tally<Cause> causes;
  std::uint64_t all = 0;
  std::uint64_t spurious = 0;
  for (const StreamSummary& stream : part.streams) {
    causes += stream.retransmissions;
    all += retransmissions(stream);
    spurious += stream.spurious_retransmissions;
  }
  const auto is_most = [&](std::uint64_t count) { return count * 2 > all; };
  if (is_most(causes[Cause::nak] + causes[Cause::implied_nak])) {
    return "look for the packets that were lost or overtaken before the NAKs";
  }
  if (is_most(causes[Cause::rnr])) return "post receives sooner: the responder was not ready";
  if (!is_most(causes[Cause::timeout])) return otherwise;
  return is_most(spurious) ? "they had been answered: the answers are lost after the capture point, or the ACK timeout "
                             "is shorter than the round trip"
                           : "nothing answered in time: look for what was lost, there or back";
}

std::string_view advice_on(const JudgedPart& part, const analysis::VerdictInfo& info) {
  return info.kind == VerdictKind::retransmission ? advice_on_retransmissions(part, info.advice) : info.advice;
}

void find_findings(const JudgedPart& part, std::vector<Finding>& findings) {
  constexpr std::size_t kWorst = 3;
  for (const analysis::VerdictInfo& info : analysis::verdict_infos()) {
    const VerdictCount& count = part.verdicts.of(info.kind);
    if (count.verdicts == 0) continue;
    Finding finding;
    finding.info = &info;
    finding.point = part.point;
    finding.count = count.verdicts;
    finding.packets = count.packets;
    finding.first = find_frame(part.result.files, count.first_frame);
    finding.begin = Time{Duration{count.first_ns}};
    finding.end = Time{Duration{count.last_ns}};
    finding.advice = advice_on(part, info);
    for (const StreamSummary& stream : part.streams) {
      if (stream.count(info.kind) == 0) continue;
      ++finding.streams;
      finding.worst.push_back({stream.stream, stream.count(info.kind)});
    }
    std::stable_sort(finding.worst.begin(), finding.worst.end(),
                     [](const Finding::Share& a, const Finding::Share& b) { return a.count > b.count; });
    finding.worst.resize(std::min(finding.worst.size(), kWorst));
    findings.push_back(std::move(finding));
  }
}

using Streams = std::vector<std::reference_wrapper<const StreamSummary>>;

std::map<std::uint16_t, Streams> streams_by_point(const AnalysisResult& result) {
  std::map<std::uint16_t, Streams> points;
  for (const StreamSummary& stream : result.streams) points[stream.point].emplace_back(stream);
  return points;
}

void append(std::vector<Statement>& all, std::vector<Statement> more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

bool is_all_notes(const std::vector<Statement>& statements) {
  return std::all_of(statements.begin(), statements.end(),
                     [](const Statement& each) { return each.severity == Severity::note; });
}

Statement about_crossing(const Crossing& crossing, const std::vector<CapturePoint>& points) {
  const auto way = fmt::format("between {} and {}", points[crossing.from].name, points[crossing.to].name);
  std::string rest;
  if (crossing.not_judged != 0) {
    rest = fmt::format("; {} not judged, as {} may have been due when the capture at {} was not running",
                       counted(crossing.not_judged, "more was", "more were"), crossing.not_judged == 1 ? "it" : "they",
                       points[crossing.to].name);
  }
  if (crossing.died() == 0) {
    // If that are most of them, the point may have been behind a fault that let nothing through.
    const bool are_most = crossing.not_judged > crossing.packets;
    return {are_most ? Severity::warning : Severity::note,
            fmt::format("{}: none of {} died{}", way, counted(crossing.packets, "packet", "packets"), rest)};
  }
  std::vector<std::string> how;
  if (crossing.lost != 0) how.push_back(fmt::format("{} lost", text::count_text(crossing.lost)));
  if (crossing.damaged != 0) how.push_back(fmt::format("{} damaged", text::count_text(crossing.damaged)));
  return {Severity::error, fmt::format("{}: {} of {} died: {}{}", way, text::count_text(crossing.died()),
                                       counted(crossing.packets, "packet", "packets"), fmt::join(how, ", "), rest)};
}

/// Says that nothing is wrong, without hiding that something is missing.
Statement about_nothing_wrong(const VerdictTotals& verdicts) {
  const std::uint64_t missing = verdicts.of(VerdictKind::unexplained).packets;
  if (missing == 0) return {Severity::note, "nothing wrong seen"};
  return {Severity::note,
          fmt::format("nothing wrong seen, but {} missing, and the capture does not show what became of {}",
                      counted(missing, "packet is", "packets are"), missing == 1 ? "it" : "them")};
}

/// Adds what each capture point saw. A point that saw nothing wrong is only named.
void add_points(const AnalysisResult& result, std::map<std::uint16_t, Streams>&& points, const PauseStorms& storms,
                Summary& summary) {
  constexpr std::size_t kNamed = 5;
  std::vector<std::string> clean;
  for (auto& [point, streams] : points) {
    const VerdictTotals none;
    const JudgedPart part{result, point < result.point_verdicts.size() ? result.point_verdicts[point] : none,
                          std::move(streams), point};
    find_findings(part, summary.findings);
    std::vector<Statement> statements = statements_about_packets(part);
    if (is_all_notes(statements) && !storms.points.contains(point)) clean.push_back(result.points[point].name);
    for (Statement& statement : statements) {
      statement.text = fmt::format("at {}: {}", result.points[point].name, statement.text);
    }
    append(summary.statements, std::move(statements));
  }
  if (clean.empty()) return;
  const std::size_t unnamed = clean.size() - std::min(clean.size(), kNamed);
  clean.resize(clean.size() - unnamed);
  std::string text = fmt::format("nothing wrong seen at {}", fmt::join(clean, ", "));
  if (unnamed != 0) text += fmt::format(" and at {}", counted(unnamed, "other point", "other points"));
  summary.statements.push_back({Severity::note, std::move(text)});
}

void add_everything(const AnalysisResult& result, const PauseStorms& storms, Summary& summary) {
  const JudgedPart everything{result, result.verdicts, {result.streams.begin(), result.streams.end()}};
  find_findings(everything, summary.findings);
  if (result.counts.roce_packets == 0) {
    summary.statements.push_back({Severity::note, result.counts.frames == 0 ? "there are no packets to judge"
                                                                            : "there are no RoCE packets to judge"});
    return;
  }
  summary.statements = statements_about_packets(everything);
  if (is_all_notes(summary.statements) && storms.points.empty() &&
      result.verdicts.of(VerdictKind::sent_while_paused).verdicts == 0) {
    summary.statements.insert(summary.statements.begin(), about_nothing_wrong(result.verdicts));
  }
}

/// Adds each storm in front of all that is not worse.
void add_storms(PauseStorms storms, Summary& summary) {
  while (!storms.statements.empty()) {
    Statement storm = std::move(storms.statements.back());
    storms.statements.pop_back();
    const auto place = std::ranges::find_if(summary.statements,
                                            [&](const Statement& each) { return each.severity <= storm.severity; });
    summary.statements.insert(place, std::move(storm));
  }
}

/// Identifies a connection at all points that see it.
auto key_of(const StreamSummary& stream) {
  const auto end = [&](std::size_t i) { return std::pair{stream.ends[i], stream.qpns[i]}; };
  return std::tuple{stream.domain, std::min(end(0), end(1)), std::max(end(0), end(1))};
}

void count_streams(const AnalysisResult& result, Summary& summary) {
  std::set<Gid> hosts;
  std::map<decltype(key_of(StreamSummary{})), std::map<std::uint16_t, std::uint64_t>> at_points;
  for (const StreamSummary& stream : result.streams) {
    hosts.insert(stream.ends.begin(), stream.ends.end());
    summary.worst.push_back(&stream);
    ++at_points[key_of(stream)][stream.point];
  }
  for (const StreamSummary& stream : result.streams) {
    auto& points = at_points[key_of(stream)];
    if (points.empty() || points.begin()->first != stream.point) continue;
    // QPs may be used again: the point that saw most connections between them has seen all.
    std::uint64_t most = 0;
    for (const auto& [point, count] : points) most = std::max(most, count);
    (is_connected(stream) ? summary.connections : summary.datagram_flows) += most;
    points.clear();
  }
  summary.hosts = hosts.size();
}

}  // namespace

Summary summarise(const AnalysisResult& result, JoinedPoints joined) {
  Summary summary;
  std::map<std::uint16_t, Streams> points = streams_by_point(result);
  for (const auto& [point, streams] : points) summary.points.push_back(point);
  summary.joined = std::move(joined);
  summary.losses = result.verdicts.losses;
  count_streams(result, summary);
  for (const Crossing& crossing : summary.joined.crossings) {
    summary.statements.push_back(about_crossing(crossing, result.points));
  }
  PauseStorms storms = find_storms(result);
  points.size() > 1 ? add_points(result, std::move(points), storms, summary) : add_everything(result, storms, summary);
  append(summary.statements, statements_about_capture(result));
  add_storms(std::move(storms), summary);
  if (summary.points.size() > 1) {
    std::stable_sort(summary.statements.begin(), summary.statements.end(),
                     [](const Statement& a, const Statement& b) { return a.severity > b.severity; });
  }
  // The end of a connection matters more than what led to it.
  const auto badness = [](const Finding& finding) {
    const VerdictKind kind = finding.info->kind;
    return std::tuple{finding.info->severity, kind == VerdictKind::no_answer || kind == VerdictKind::never_ready,
                      finding.count};
  };
  std::stable_sort(summary.findings.begin(), summary.findings.end(),
                   [&](const Finding& a, const Finding& b) { return badness(a) > badness(b); });
  summary.is_clean = result.counts.roce_packets != 0 && summary.statements.front().severity == Severity::note &&
                     std::none_of(summary.findings.begin(), summary.findings.end(),
                                  [](const Finding& finding) { return finding.info->severity != Severity::note; });
  summary.lacks = find_lacks(result);
  for (const std::vector<std::string>* sentences : {&summary.joined.caveats, &summary.joined.clocks_apart}) {
    summary.lacks.insert(summary.lacks.end(), sentences->begin(), sentences->end());
  }
  std::stable_sort(summary.worst.begin(), summary.worst.end(),
                   [](const StreamSummary* a, const StreamSummary* b) { return is_worse(*a, *b); });
  return summary;
}

}  // namespace roce::analyze
