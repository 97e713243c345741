// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/summary_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "analyze/run/dead_connections.h"
#include "text/human_units.h"

namespace roce::analyze {

namespace {

using analysis::Severity;
using analysis::StreamSummary;
using analysis::VerdictKind;

constexpr std::array kErrorNaks{VerdictKind::nak_invalid_request, VerdictKind::nak_remote_access_error,
                                VerdictKind::nak_remote_operational_error, VerdictKind::nak_invalid_rd_request};

std::string joined(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// A part of a run that is judged by itself: what one capture point saw, or everything.
struct Part {
  const AnalysisResult& result;
  const VerdictTotals& verdicts;
  std::optional<std::uint16_t> point;  ///< not set: all points

  [[nodiscard]] bool has(const StreamSummary& stream) const { return !point || stream.point == *point; }
};

/// Returns what to do about retransmissions, by their most frequent cause.
std::string_view advice_on_retransmissions(const Part& part, std::string_view otherwise) {
  using analysis::Cause;
  analysis::Tally<Cause> causes;
  std::uint64_t all = 0;
  std::uint64_t spurious = 0;
  for (const StreamSummary& stream : part.result.streams) {
    if (!part.has(stream)) continue;
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

std::string_view advice_on(const Part& part, const analysis::VerdictInfo& info) {
  return info.kind == VerdictKind::retransmission ? advice_on_retransmissions(part, info.advice) : info.advice;
}

void find_findings(const Part& part, std::vector<Finding>& findings) {
  constexpr std::size_t kWorst = 3;
  for (const analysis::VerdictInfo& info : analysis::verdict_infos()) {
    const VerdictCount& count = part.verdicts.of(info.kind);
    if (count.verdicts == 0) continue;
    Finding finding{&info, part.point, count.verdicts, count.packets, 0, {}, advice_on(part, info)};
    for (const StreamSummary& stream : part.result.streams) {
      if (!part.has(stream) || stream.count(info.kind) == 0) continue;
      ++finding.streams;
      finding.worst.push_back({stream.stream, stream.count(info.kind)});
    }
    std::stable_sort(finding.worst.begin(), finding.worst.end(),
                     [](const Finding::Share& a, const Finding::Share& b) { return a.count > b.count; });
    finding.worst.resize(std::min(finding.worst.size(), kWorst));
    findings.push_back(std::move(finding));
  }
}

/// Builds the statements about a part of a run.
class Statements {
 public:
  explicit Statements(const Part& part) : part_(part), result_(part.result), verdicts_(part.verdicts) {
    for (const StreamSummary& stream : result_.streams) {
      if (part.has(stream) && is_connected(stream)) ++connections_;
    }
  }

  /// About the packets that were seen; nothing if there is nothing to say.
  std::vector<Statement> about_packets() && {
    add_dead();
    add_seen_twice();
    add_refused();
    add_broken_rules();
    add_losses();
    add_damaged();
    add_not_ready();
    add_overtaken();
    add_repeated();
    add_congestion();
    return std::move(statements_);
  }
  /// About the capture as a whole.
  std::vector<Statement> about_capture() && {
    add_pauses();
    add_sample();
    return std::move(statements_);
  }

 private:
  void add(Severity severity, std::string text) { statements_.push_back({severity, std::move(text)}); }

  template <typename Holds>
  [[nodiscard]] std::string connections_that(Holds holds, std::string_view one, std::string_view many) const {
    const auto count = static_cast<std::uint64_t>(std::count_if(
        result_.streams.begin(), result_.streams.end(),
        [&](const StreamSummary& stream) { return part_.has(stream) && is_connected(stream) && holds(stream); }));
    return fmt::format("{} of {} {}", text::count_text(count), counted(connections_, "connection", "connections"),
                       count == 1 ? one : many);
  }

  // Says how many connections came to this end, and describes the first few.
  void add_ends(const std::vector<DeadConnection>& dead, ConnectionEnd end, Severity severity, std::string_view text) {
    constexpr std::size_t kDescribed = 3;
    std::vector<const DeadConnection*> those;
    for (const DeadConnection& each : dead) {
      if (each.end == end) those.push_back(&each);
    }
    if (those.empty()) return;
    add(severity, fmt::format("{} of {} {}", text::count_text(those.size()),
                              counted(connections_, "connection", "connections"), text));
    for (std::size_t i = 0; i < std::min(those.size(), kDescribed); ++i) add(severity, those[i]->text);
  }

  void add_dead() {
    const std::vector<DeadConnection> dead = find_dead_connections(result_, part_.point);
    add_ends(dead, ConnectionEnd::died, Severity::error,
             "died of silence: the application gets completion 12 (transport retry counter exceeded)");
    add_ends(dead, ConnectionEnd::refused_by_rnr, Severity::error,
             "died of RNR NAKs: the application gets completion 13 (RNR retry counter exceeded)");
    add_ends(dead, ConnectionEnd::died_or_unseen, Severity::error,
             "died of silence (completion 12, transport retry counter exceeded), or the answers alone are not in the "
             "capture");
    add_ends(dead, ConnectionEnd::unanswered, Severity::error,
             "had tried in vain when the capture ended, and may have died");
    add_ends(dead, ConnectionEnd::last_unanswered, Severity::warning,
             "may have died: its requester has no answer to its last request, as far as is seen here");
  }

  void add_seen_twice() {
    std::uint64_t packets = 0;
    for (const StreamSummary& stream : result_.streams) {
      if (part_.has(stream)) packets += stream.directions[0].packets + stream.directions[1].packets;
    }
    const std::uint64_t copies = verdicts_.of(VerdictKind::duplicate).verdicts;
    // With every packet twice, half of all are copies.
    constexpr std::uint64_t kLeastPackets = 20;
    constexpr std::uint64_t kPercent = 40;
    if (packets < kLeastPackets || copies * 100 < packets * kPercent) return;
    add(Severity::warning,
        fmt::format("{} of {} are copies: the same traffic was captured twice (a mirror of both directions, or the "
                    "device any); capture one interface, or remove the copies with editcap -D 100",
                    text::count_text(copies), counted(packets, "packet", "packets")));
  }

  void add_refused() {
    std::vector<std::string> parts;
    for (const VerdictKind kind : kErrorNaks) {
      const std::uint64_t count = verdicts_.of(kind).verdicts;
      if (count != 0) parts.push_back(fmt::format("{} {}", text::count_text(count), verdict_info(kind).name));
    }
    if (parts.empty()) return;
    const auto is_refused = [](const StreamSummary& stream) { return error_naks(stream) != 0; };
    add(Severity::error,
        fmt::format("{}: {}",
                    connections_that(is_refused, "was broken off by an error NAK", "were broken off by error NAKs"),
                    joined(parts)));
  }

  void add_broken_rules() {
    if (verdicts_.of(VerdictKind::rule_broken).verdicts == 0) return;
    std::vector<std::string> parts;
    for (const analysis::RuleInfo& info : analysis::rule_infos()) {
      const std::uint64_t count = verdicts_.of(info.rule);
      if (count != 0 && info.rule != analysis::Rule::pause)
        parts.push_back(fmt::format("{} {} ({})", text::count_text(count), info.identifier, info.text));
    }
    add(Severity::error, fmt::format("rules of the protocol are broken: {}", joined(parts)));
  }

  void add_losses() {
    const LossPlaces& lost = verdicts_.losses;
    std::vector<std::string> parts;
    const auto place = [&](std::uint64_t count, std::string_view text) {
      if (count != 0) parts.push_back(fmt::format("{} {}", text::count_text(count), text));
    };
    place(lost.before, "lost before the capture point");
    if (lost.damaged != 0)
      parts.back() += fmt::format(" ({} of them seen here, damaged)", text::count_text(lost.damaged));
    place(lost.after, "lost after it");
    place(lost.beyond, "lost on the responder's side of it, or the answer to it");
    const std::uint64_t late = verdicts_.of(VerdictKind::response_not_in_time).packets;
    place(late, late == 1 ? "response lost or overtaken after it" : "responses lost or overtaken after it");
    if (parts.empty()) return;
    const auto has_lost = [&](const StreamSummary& stream) {
      return result_.verdicts.lost_of(stream.stream).total() != 0 ||
             stream.count(VerdictKind::response_not_in_time) != 0;
    };
    add(Severity::error,
        fmt::format("{}: {}", connections_that(has_lost, "lost packets", "lost packets"), joined(parts)));
  }

  void add_damaged() {
    const std::uint64_t count = result_.streams_passed_over || part_.point
                                    ? verdicts_.of(VerdictKind::bad_icrc).verdicts
                                    : result_.counts.icrc_bad;
    if (count == 0) return;
    add(Severity::error, fmt::format("{} a wrong ICRC: damaged on the way here, and dropped by the receiver",
                                     counted(count, "packet has", "packets have")));
  }

  void add_not_ready() {
    const std::uint64_t count = verdicts_.of(VerdictKind::rnr_nak).verdicts;
    if (count == 0) return;
    const auto was_not_ready = [](const StreamSummary& stream) { return stream.count(VerdictKind::rnr_nak) != 0; };
    add(Severity::warning,
        fmt::format("{}: {} (RNR NAK)",
                    connections_that(was_not_ready, "found no receive posted", "found no receive posted"),
                    counted(count, "time", "times")));
  }

  // True if no loss is known that made the requesters send again.
  [[nodiscard]] bool nothing_was_lost() const {
    return verdicts_.losses.total() == 0 && verdicts_.of(VerdictKind::no_answer).verdicts == 0 &&
           verdicts_.of(VerdictKind::response_not_in_time).verdicts == 0;
  }

  [[nodiscard]] std::uint64_t overtaken() const {
    return verdicts_.of(VerdictKind::out_of_order).packets + verdicts_.of(VerdictKind::request_late_after).packets +
           verdicts_.of(VerdictKind::response_out_of_order).packets;
  }

  void add_overtaken() {
    const std::uint64_t again = verdicts_.of(VerdictKind::retransmission).verdicts;
    if (overtaken() == 0) return;
    const auto has_overtaken = [](const StreamSummary& stream) {
      return stream.count(VerdictKind::out_of_order) + stream.count(VerdictKind::request_late_after) +
                 stream.count(VerdictKind::response_out_of_order) !=
             0;
    };
    const std::string packets = counted(overtaken(), "packet that others overtook", "packets that others overtook");
    // Losses are a reason of their own; without one, the overtaken packets are the reason.
    if (nothing_was_lost() && again != 0) {
      const std::string text =
          fmt::format("had {}, and sent {} again: nothing was lost", packets, counted(again, "packet", "packets"));
      add(Severity::warning, connections_that(has_overtaken, text, text));
    } else {
      const std::string text = fmt::format("had {}", packets);
      add(Severity::note, connections_that(has_overtaken, text, text));
    }
  }

  void add_repeated() {
    // Known losses and overtaken packets matter more; retransmissions are only their consequence.
    if (verdicts_.losses.total() != 0 || verdicts_.of(VerdictKind::no_answer).verdicts != 0) return;
    if (overtaken() != 0 && nothing_was_lost()) return;
    const std::uint64_t count = verdicts_.of(VerdictKind::retransmission).verdicts;
    if (count == 0) return;
    const auto has_repeated = [](const StreamSummary& stream) { return retransmissions(stream) != 0; };
    const std::string again =
        fmt::format("sent {} again; the findings may say why", counted(count, "packet", "packets"));
    add(Severity::warning, connections_that(has_repeated, again, again));
  }

  void add_congestion() {
    const std::uint64_t marks = verdicts_.of(VerdictKind::ce_mark).verdicts;
    const std::uint64_t notes = verdicts_.of(VerdictKind::cnp).verdicts;
    if (marks + notes == 0) return;
    add(Severity::note, fmt::format("congestion: {} with a CE mark, {}", counted(marks, "packet", "packets"),
                                    counted(notes, "CNP", "CNPs")));
    const auto is_ignored = [&](const StreamSummary& stream) {
      // If only one direction was captured, the other may have had CNPs.
      return part_.has(stream) && stream.directions[0].seen && stream.directions[1].seen &&
             std::any_of(stream.congestion.begin(), stream.congestion.end(),
                         [](const analysis::CongestionSummary& each) { return each.marks != 0 && each.cnps == 0; });
    };
    if (std::any_of(result_.streams.begin(), result_.streams.end(), is_ignored)) {
      add(Severity::note, connections_that(is_ignored, "had CE marks, and no CNP was seen for it",
                                           "had CE marks, and no CNP was seen for them"));
    }
  }

  void add_pauses() {
    const std::uint64_t breaches = verdicts_.of(VerdictKind::sent_while_paused).verdicts;
    if (breaches != 0) {
      add(Severity::warning, counted(breaches, "packet was on its way to a station that had paused its priority",
                                     "packets were on their way to stations that had paused their priorities"));
    }
    const auto stations = static_cast<std::uint64_t>(
        std::count_if(result_.pauses.begin(), result_.pauses.end(), [](const analysis::PauseSummary& pause) {
          return std::any_of(pause.counts.begin(), pause.counts.end(),
                             [](const analysis::PauseCounts& counts) { return counts.xoff != 0; });
        }));
    if (stations == 0) return;
    add(Severity::note, fmt::format("flow control: {} asked for silence", counted(stations, "station", "stations")));
  }

  void add_sample() {
    if (!result_.sample) return;
    const CaptureSample& sample = *result_.sample;
    std::string share;
    if (sample.of_bytes != 0) {
      share = fmt::format(", {:.1f} % of the bytes",
                          static_cast<double>(sample.bytes) * 100 / static_cast<double>(sample.of_bytes));
    }
    add(Severity::note,
        fmt::format("a sample: only the first {}{} were looked at", counted(sample.frames, "frame", "frames"), share));
  }

  const Part& part_;
  const AnalysisResult& result_;
  const VerdictTotals& verdicts_;
  std::uint64_t connections_ = 0;
  std::vector<Statement> statements_;
};

/// Returns the points with streams, by number.
std::vector<std::uint16_t> points_of(const AnalysisResult& result) {
  std::set<std::uint16_t> points;
  for (const StreamSummary& stream : result.streams) points.insert(stream.point);
  return {points.begin(), points.end()};
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
  if (crossing.died() == 0) {
    return {Severity::note, fmt::format("{}: none of {} died", way, counted(crossing.packets, "packet", "packets"))};
  }
  std::vector<std::string> how;
  if (crossing.lost != 0) how.push_back(fmt::format("{} lost", text::count_text(crossing.lost)));
  if (crossing.damaged != 0) how.push_back(fmt::format("{} damaged", text::count_text(crossing.damaged)));
  return {Severity::error, fmt::format("{}: {} of {} died: {}", way, text::count_text(crossing.died()),
                                       counted(crossing.packets, "packet", "packets"), joined(how))};
}

/// Adds what each capture point saw. A point that saw nothing wrong is only named.
void add_points(const AnalysisResult& result, Summary& summary) {
  constexpr std::size_t kNamed = 5;
  std::vector<std::string> clean;
  for (const std::uint16_t point : summary.points) {
    const VerdictTotals none;
    const Part part{result, point < result.point_verdicts.size() ? result.point_verdicts[point] : none, point};
    find_findings(part, summary.findings);
    std::vector<Statement> statements = Statements{part}.about_packets();
    if (is_all_notes(statements)) clean.push_back(result.points[point].name);
    for (Statement& statement : statements) {
      statement.text = fmt::format("at {}: {}", result.points[point].name, statement.text);
    }
    append(summary.statements, std::move(statements));
  }
  if (clean.empty()) return;
  const std::size_t unnamed = clean.size() - std::min(clean.size(), kNamed);
  clean.resize(clean.size() - unnamed);
  std::string text = fmt::format("nothing wrong seen at {}", joined(clean));
  if (unnamed != 0) text += fmt::format(" and at {}", counted(unnamed, "other point", "other points"));
  summary.statements.push_back({Severity::note, std::move(text)});
}

void add_everything(const AnalysisResult& result, Summary& summary) {
  const Part everything{result, result.verdicts, {}};
  find_findings(everything, summary.findings);
  if (result.counts.roce_packets == 0) {
    summary.statements.push_back({Severity::note, result.counts.frames == 0 ? "there are no packets to judge"
                                                                            : "there are no RoCE packets to judge"});
    return;
  }
  summary.statements = Statements{everything}.about_packets();
  if (is_all_notes(summary.statements) && result.verdicts.of(VerdictKind::sent_while_paused).verdicts == 0) {
    summary.statements.insert(summary.statements.begin(), {Severity::note, "nothing wrong seen"});
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
      fmt::format("{} not checked: {}", counted(counts.unchecked(), "ICRC was", "ICRCs were"), joined(parts)));
}

void add_file_lacks(const CaptureFile& file, std::vector<std::string>& lacks) {
  std::vector<std::string> parts;
  const auto add = [&](std::uint64_t count, std::string_view by) {
    if (count != 0) parts.push_back(fmt::format("{} {}", text::count_text(count), by));
  };
  add(file.dropped_interface, "by the interface");
  add(file.dropped_os, "by the operating system");
  add(file.dropped_between, "between its packets");
  if (!parts.empty()) lacks.push_back(fmt::format("{}: the capture lost packets: {}", file.path, joined(parts)));
  for (const std::string& problem : file.problems) lacks.push_back(problem);
}

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

}  // namespace

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", text::count_text(count), count == 1 ? one : many);
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
  return lacks;
}

bool is_connected(const StreamSummary& stream) {
  return stream.service != Service::ud && stream.service != Service::cnp;
}

std::uint64_t error_naks(const StreamSummary& stream) {
  return std::accumulate(kErrorNaks.begin(), kErrorNaks.end(), std::uint64_t{0},
                         [&](std::uint64_t sum, VerdictKind kind) { return sum + stream.count(kind); });
}

std::uint64_t retransmissions(const StreamSummary& stream) {
  const auto& causes = stream.retransmissions.entries();
  return std::accumulate(causes.begin(), causes.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& each) { return sum + each.count; });
}

double goodput(const StreamSummary& stream) {
  return bits_per_second(stream.directions[0].goodput_bytes + stream.directions[1].goodput_bytes,
                         stream.end - stream.start);
}

double bits_per_second(std::uint64_t bytes, Duration time) {
  const double seconds = std::chrono::duration<double>(time).count();
  return seconds > 0 ? static_cast<double>(bytes) * 8 / seconds : 0;
}

analysis::Histogram latencies(const StreamSummary& stream) {
  analysis::Histogram all = stream.directions[0].latency;
  all.merge(stream.directions[1].latency);
  return all;
}

bool is_worse(const StreamSummary& a, const StreamSummary& b) {
  const auto badness = [](const StreamSummary& stream) {
    std::uint64_t errors = 0;
    std::uint64_t warnings = 0;
    for (const analysis::VerdictInfo& info : analysis::verdict_infos()) {
      if (info.severity == Severity::error) errors += stream.count(info.kind);
      if (info.severity == Severity::warning) warnings += stream.count(info.kind);
    }
    return std::tuple{
        stream.count(VerdictKind::no_answer) + stream.count(VerdictKind::never_ready) + error_naks(stream), errors,
        warnings, stream.count(VerdictKind::ce_mark) + stream.count(VerdictKind::cnp),
        stream.directions[0].packets + stream.directions[1].packets};
  };
  return badness(a) > badness(b);
}

Summary summarise(const AnalysisResult& result, JoinedPoints joined) {
  Summary summary;
  summary.points = points_of(result);
  summary.joined = std::move(joined);
  summary.losses = result.verdicts.losses;
  count_streams(result, summary);
  for (const Crossing& crossing : summary.joined.crossings) {
    summary.statements.push_back(about_crossing(crossing, result.points));
  }
  summary.points.size() > 1 ? add_points(result, summary) : add_everything(result, summary);
  const Part everything{result, result.verdicts, {}};
  append(summary.statements, Statements{everything}.about_capture());
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
