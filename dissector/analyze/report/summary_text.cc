// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "analyze/report/congestion_text.h"
#include "analyze/report/statement_text.h"
#include "analyze/report/stream_text.h"
#include "analyze/report/summary_format.h"
#include "analyze/run/run_time.h"
#include "analyze/run/stream_figures.h"
#include "packet_text/time_text.h"
#include "text/human_units.h"

namespace roce::analyze {

namespace {

using analysis::Severity;
using analysis::StreamSummary;
using analysis::VerdictKind;

text::Tone tone_of(Severity severity) {
  switch (severity) {
    case Severity::error:
      return text::Tone::bad;
    case Severity::warning:
      return text::Tone::caution;
    case Severity::note:
      break;
  }
  return text::Tone::plain;
}

class SummaryText {
 public:
  SummaryText(text::TextBuffer& out, const SummaryView& view, const text::TextTable::Layout& layout)
      : out_(out), view_(view), layout_(layout) {}

  void append_all() {
    append_capture();
    append_statements();
    append_crossings();
    append_findings();
    append_streams();
    append_congestion();
    append_pauses();
    append_lacks();
  }

 private:
  /// Appends a line, which may be wider than the terminal.
  void line(std::string_view text) {
    text::append_printable(out_, text);
    out_.push_back('\n');
  }
  void heading(std::string_view text) { text::append_heading(out_, text, layout_.palette); }

  void indented(const text::TextTable& table) {
    text::TextTable::Layout layout = layout_;
    layout.indent = kIndent;
    table.append_text(out_, layout);
  }
  void footnote(std::string_view text) {
    text::append(out_, layout_.palette.faint);
    text::append_spaces(out_, kIndent);
    text::append(out_, text);
    text::append(out_, layout_.palette.reset);
    out_.push_back('\n');
  }

  void append_capture() {
    const AnalysisResult& result = view_.result;
    const CaptureCounts& counts = result.counts;
    const std::uint64_t files = result.files.size() + result.files_left_out;
    std::string text =
        files == 1 ? result.files.front().path
                   : fmt::format("{} … {}: {} files", result.files.front().path, result.files.back().path, files);
    text += fmt::format(": {}, {}", text::counted(counts.frames, "frame", "frames"), text::bytes_text(counts.bytes));
    if (counts.first_ns) {
      text::TextBuffer time;
      packet_text::UtcText{}.append(time, *counts.first_ns, 6);
      text +=
          fmt::format(", {} from {}", text::duration_text(*counts.last_ns - *counts.first_ns), fmt::to_string(time));
    }
    line(text);
    if (counts.outside_window != 0) {
      line(fmt::format("passed over: {}, outside --from and --to",
                       text::counted(counts.outside_window, "frame", "frames")));
    }
    if (counts.roce_packets == 0) return;
    std::string roce = fmt::format("{} in {}", text::counted(counts.roce_packets, "RoCE packet", "RoCE packets"),
                                   counts.roce_frames == counts.frames
                                       ? "all frames"
                                       : text::percent_text(counts.roce_frames, counts.frames) + " of the frames");
    for (const RoceVersion version : {RoceVersion::v1, RoceVersion::v2_ipv4, RoceVersion::v2_ipv6}) {
      const std::uint64_t count = counts.versions[static_cast<std::size_t>(version)];
      if (count == counts.roce_packets) {
        roce += fmt::format(", {}", to_string(version));
      } else if (count != 0) {
        roce += fmt::format(", {} {}", text::count_text(count), to_string(version));
      }
    }
    const std::uint64_t connections = view_.summary.connections;
    roce += fmt::format("; {}, {}", text::counted(view_.summary.hosts, "host", "hosts"),
                        text::counted(connections, "connection", "connections"));
    if (view_.summary.points.size() > 1) roce += fmt::format(", seen at {} points", view_.summary.points.size());
    if (view_.summary.datagram_flows != 0) {
      roce += fmt::format(", {}", text::counted(view_.summary.datagram_flows, "datagram flow", "datagram flows"));
    }
    if (const std::optional<std::uint64_t>& passed_over = view_.result.streams_passed_over) {
      const std::uint64_t asked_for = view_.result.streams.size();
      roce += fmt::format("; asked for: {} of {} streams", text::count_text(asked_for),
                          text::count_text(asked_for + *passed_over));
    }
    line(roce);
  }

  void append_statements() {
    out_.push_back('\n');
    for (const Statement& statement : view_.summary.statements) append_statement(out_, statement, layout_.palette);
  }

  void append_findings() {
    if (view_.summary.findings.empty()) return;
    heading("What was found, and what to do");
    const bool has_points = view_.summary.points.size() > 1;
    std::vector<text::TableColumn> columns{{"finding"},
                                           {"count", text::Align::right},
                                           {"packets", text::Align::right},
                                           {"streams", text::Align::right},
                                           {"first", text::Align::right},
                                           {"most in"},
                                           {"meaning"}};
    if (has_points) columns.insert(columns.begin() + 1, {"at"});
    text::TextTable table(std::move(columns));
    for (const Finding& finding : view_.summary.findings) {
      std::string worst;
      for (const Finding::Share& share : finding.worst) {
        worst += fmt::format("{}{}:{}", worst.empty() ? "" : " ", share.stream, text::count_text(share.count));
      }
      std::vector<text::TableCell> row{{std::string{finding.info->name}, tone_of(finding.info->severity)},
                                       {text::count_text(finding.count)},
                                       {text::count_text(finding.packets)},
                                       {text::count_text(finding.streams)},
                                       {run_seconds(view_.result, finding.begin)},
                                       {worst},
                                       {std::string{finding.info->text}}};
      if (has_points) row.insert(row.begin() + 1, {point_name(finding.point)});
      table.add_row(std::move(row));
    }
    text::TextBuffer rows;
    text::TextTable::Layout layout = layout_;
    layout.indent = kIndent;
    table.append_text(rows, layout);
    // Advice goes below the row that it is about, where it is not cut off.
    std::string_view text{rows.data(), rows.size()};
    for (std::size_t i = 0; !text.empty(); ++i) {
      const std::size_t end = text.find('\n') + 1;
      text::append(out_, text.substr(0, end));
      text.remove_prefix(end);
      if (i != 0) append_advice(view_.summary.findings[i - 1]);
    }
  }

  void append_advice(const Finding& finding) {
    if (finding.advice.empty() || finding.info->severity == Severity::note) return;
    text::append_spaces(out_, 2 * kIndent);
    text::append(out_, layout_.charset == text::Charset::utf8 ? "→ " : "-> ");
    text::append(out_, finding.advice);
    out_.push_back('\n');
  }

  [[nodiscard]] std::string point_name(std::optional<std::uint16_t> point) const {
    return point ? view_.result.points[*point].name : std::string{};
  }

  void append_crossings() {
    const std::vector<Crossing>& crossings = view_.summary.joined.crossings;
    if (crossings.empty()) return;
    heading("From one capture point to the next");
    text::TextTable table({{"from"},
                           {"to"},
                           {"packets", text::Align::right},
                           {"lost", text::Align::right},
                           {"damaged", text::Align::right},
                           {"duplicated", text::Align::right},
                           {"reordered", text::Align::right},
                           {"missed", text::Align::right},
                           {"not judged", text::Align::right},
                           {"delay p50", text::Align::right}});
    for (const Crossing& crossing : crossings) {
      table.add_row({{point_name(crossing.from)},
                     {point_name(crossing.to)},
                     {text::count_text(crossing.packets)},
                     {text::count_text(crossing.lost), crossing.lost != 0 ? text::Tone::bad : text::Tone::plain},
                     {text::count_text(crossing.damaged), crossing.damaged != 0 ? text::Tone::bad : text::Tone::plain},
                     {text::count_text(crossing.duplicated)},
                     {text::count_text(crossing.reordered)},
                     {text::count_text(crossing.missed)},
                     {text::count_text(crossing.not_judged)},
                     {crossing.delay_p50 ? text::duration_text(crossing.delay_p50->count()) : std::string{}}});
    }
    indented(table);
    footnote(
        "missed: seen at the second point only; not judged: under way when the capture of the second point began or "
        "ended; roce-analyze join lists the packets");
  }

  void append_streams() {
    const auto& streams = view_.summary.worst;
    if (streams.empty()) return;
    const std::size_t shown = view_.top == 0 ? streams.size() : std::min(view_.top, streams.size());
    heading(shown == streams.size()
                ? std::string{"Streams, the worst first"}
                : fmt::format("The {} worst of {} streams", shown, text::count_text(streams.size())));
    std::vector<std::vector<text::TableCell>> rows;
    for (std::size_t i = 0; i < shown; ++i) rows.push_back(row_of(*streams[i]));
    std::vector<text::TableColumn> columns{{"stream", text::Align::right},
                                           {"point"},
                                           {"ends"},
                                           {"svc"},
                                           {"packets", text::Align::right},
                                           {"goodput", text::Align::right},
                                           {"resent", text::Align::right},
                                           {"lost b/a/?", text::Align::right},
                                           {"NAK/RNR", text::Align::right},
                                           {"CE/CNP", text::Align::right},
                                           {"p50", text::Align::right},
                                           {"p99", text::Align::right},
                                           {"max", text::Align::right}};
    // Empty columns are left out: they would only make the lines longer.
    text::drop_empty_columns(columns, rows, "0 %");
    text::TextTable table(std::move(columns));
    for (auto& row : rows) table.add_row(std::move(row));
    indented(table);
    if (view_.summary.losses.total() != 0) {
      footnote("lost: before / after the capture point / on the responder's side of it, there or back");
    }
  }

  void append_congestion() {
    const text::TextTable table = congestion_table(view_, layout_.charset);
    if (table.row_count() == 0) return;
    heading("Congestion notification");
    indented(table);
    const auto& streams = view_.result.streams;
    const bool has_reaction = std::any_of(streams.begin(), streams.end(), [](const StreamSummary& stream) {
      return std::any_of(stream.congestion.begin(), stream.congestion.end(),
                         [](const analysis::CongestionSummary& each) { return each.reaction.cnps != 0; });
    });
    if (has_reaction) footnote("before CNP, after: what was sent in the millisecond before and after one");
  }

  void append_pauses() {
    const text::TextTable table = pause_table(view_);
    if (table.row_count() == 0) return;
    heading("Flow control: who asked for silence");
    indented(table);
    const auto& pauses = view_.result.pauses;
    const bool is_known = std::any_of(pauses.begin(), pauses.end(), [](const analysis::PauseSummary& pause) {
      return std::any_of(pause.counts.begin(), pause.counts.end(),
                         [](const analysis::PauseCounts& counts) { return counts.paused.has_value(); });
    });
    if (!is_known) {
      footnote("how long that was follows from the link speed, which is not in a capture: --link-speed 100G");
    }
  }

  [[nodiscard]] std::vector<text::TableCell> row_of(const StreamSummary& stream) const {
    const LossPlaces lost = view_.result.verdicts.lost_of(stream.stream);
    const std::uint64_t packets = stream.directions[0].packets + stream.directions[1].packets;
    const std::uint64_t requests = stream.directions[0].request_packets + stream.directions[1].request_packets;
    const std::uint64_t naks = error_naks(stream) + stream.count(VerdictKind::nak_sequence_error);
    const std::uint64_t rnr = stream.count(VerdictKind::rnr_nak);
    const std::uint64_t ce = stream.count(VerdictKind::ce_mark);
    const std::uint64_t cnp = stream.count(VerdictKind::cnp);
    const analysis::Histogram latency = latencies(stream);
    const auto pair = [](std::uint64_t a, std::uint64_t b) {
      return a + b == 0 ? std::string{} : fmt::format("{}/{}", text::count_text(a), text::count_text(b));
    };
    const auto at = [&](Duration duration) {
      return text::TableCell{latency.count() == 0 ? std::string{} : text::duration_text(duration.count())};
    };
    const std::uint64_t resent = retransmissions(stream);
    const double rate = goodput(stream);
    return {{std::to_string(stream.stream)},
            {view_.summary.points.size() > 1 ? point_name(stream.point) : std::string{}},
            {ends_text(stream, view_.names, layout_.charset)},
            {std::string{service_text(stream.service)}},
            {text::count_text(packets)},
            {rate > 0 ? text::bit_rate_text(rate) : std::string{}},
            {text::percent_text(resent, requests), resent != 0 ? text::Tone::caution : text::Tone::plain},
            {lost.total() == 0 ? std::string{}
                               : fmt::format("{}/{}/{}", text::count_text(lost.before), text::count_text(lost.after),
                                             text::count_text(lost.beyond)),
             text::Tone::bad},
            {pair(naks, rnr), error_naks(stream) != 0 ? text::Tone::bad : text::Tone::caution},
            {pair(ce, cnp)},
            at(latency.quantile(0.5)),
            at(latency.quantile(0.99)),
            at(latency.max())};
  }

  void append_lacks() {
    if (view_.summary.lacks.empty()) return;
    heading("What the capture itself lacks");
    for (const std::string& lack : view_.summary.lacks) line("  " + lack);
  }

  static constexpr std::size_t kIndent = 2;

  text::TextBuffer& out_;
  const SummaryView& view_;
  const text::TextTable::Layout& layout_;
};

}  // namespace

void append_summary_text(text::TextBuffer& out, const SummaryView& view, const text::TextTable::Layout& layout) {
  SummaryText{out, view, layout}.append_all();
}

}  // namespace roce::analyze
