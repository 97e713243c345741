// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <algorithm>

#include "analyze/join/join_format.h"
#include "analyze/report/stream_text.h"
#include "packet_text/time_text.h"
#include "text/human_units.h"

namespace roce::analyze {

namespace {

constexpr std::size_t kIndent = 2;

text::TableCell count_cell(std::uint64_t count, text::Tone tone = text::Tone::plain) {
  return {count == 0 ? std::string{} : text::count_text(count), count == 0 ? text::Tone::plain : tone, count};
}

std::vector<text::TableColumn> count_columns() {
  return {{"first", text::Align::right},      {"second", text::Align::right},     {"matched", text::Align::right},
          {"lost", text::Align::right},       {"damaged", text::Align::right},    {"only A", text::Align::right},
          {"only B", text::Align::right},     {"duplicated", text::Align::right}, {"reordered", text::Align::right},
          {"CE marked", text::Align::right},  {"missed", text::Align::right},     {"orphaned", text::Align::right},
          {"not judged", text::Align::right}, {"min", text::Align::right},        {"p50", text::Align::right},
          {"p99", text::Align::right},        {"max", text::Align::right}};
}

void add_counts(std::vector<text::TableCell>& cells, const WaySummary& way) {
  cells.push_back({text::count_text(way.first)});
  cells.push_back({text::count_text(way.second)});
  cells.push_back({text::count_text(way.matched)});
  cells.push_back(count_cell(way.count(Fate::lost), text::Tone::bad));
  cells.push_back(count_cell(way.count(Fate::damaged), text::Tone::bad));
  cells.push_back(count_cell(way.count(Fate::only_a), text::Tone::caution));
  cells.push_back(count_cell(way.count(Fate::only_b), text::Tone::caution));
  cells.push_back(count_cell(way.count(Fate::duplicated), text::Tone::caution));
  cells.push_back(count_cell(way.count(Fate::reordered), text::Tone::caution));
  cells.push_back(count_cell(way.count(Fate::ce_marked), text::Tone::caution));
  cells.push_back(count_cell(way.count(Fate::missed)));
  cells.push_back(count_cell(way.count(Fate::orphaned), text::Tone::caution));
  cells.push_back(count_cell(way.not_judged_first + way.not_judged_second));
  const analysis::Histogram& delay = way.delay;
  for (const Duration value : {delay.min(), delay.quantile(0.5), delay.quantile(0.99), delay.max()}) {
    cells.push_back({delay.count() == 0 ? std::string{} : text::duration_text(value.count())});
  }
}

class JoinText {
 public:
  JoinText(text::TextBuffer& out, const JoinView& view, const text::TextTable::Layout& layout)
      : out_(out), view_(view), layout_(layout) {}

  void append_all() {
    line(capture_text("A", view_.a, view_.read_a));
    line(capture_text("B", view_.b, view_.read_b));
    out_.push_back('\n');
    const WaySummary& unknown = view_.result.way(Way::unknown);
    const bool has_died = std::any_of(view_.result.ways.begin(), view_.result.ways.end(),
                                      [](const WaySummary& way) { return way.died() != 0; });
    const bool is_doubtful = unknown.count(Fate::only_a) + unknown.count(Fate::only_b) != 0;
    const std::string_view colour = has_died      ? layout_.palette.bad
                                    : is_doubtful ? layout_.palette.caution
                                                  : std::string_view{};
    text::append(out_, colour);
    text::append_printable(out_, join_headline(view_, layout_.charset));
    if (!colour.empty()) text::append(out_, layout_.palette.reset);
    out_.push_back('\n');
    if (view_.result.flows.empty()) return;
    line(clock_text(view_, layout_.charset));
    append_ways();
    append_changes();
    append_flows();
    const std::vector<std::string> caveats = join_caveats(view_, layout_.charset);
    if (caveats.empty()) return;
    heading("How to read it");
    for (const std::string& caveat : caveats) line("  " + caveat);
  }

 private:
  void line(std::string_view text) {
    text::append_printable(out_, text);
    out_.push_back('\n');
  }
  void heading(std::string_view text) { text::append_heading(out_, text, layout_.palette); }

  static std::string capture_text(std::string_view name, const JoinSide& side, const AnalysisResult& read) {
    const std::size_t files = read.files.size();
    std::string text = fmt::format("{}: {}", name, read.files.front().path);
    if (files > 1) text += fmt::format(" … {}: {} files", read.files.back().path, files);
    text += fmt::format(": {} RoCE packets", text::count_text(side.packets.size()));
    if (read.counts.first_ns) {
      text::TextBuffer time;
      packet_text::UtcText{}.append(time, side.first_ns, 6);
      text += fmt::format(", {} from {}", text::duration_text(side.last_ns - side.first_ns), fmt::to_string(time));
    }
    return text;
  }

  /// Empty columns are left out: they would only make the lines longer.
  void append_table(std::vector<text::TableColumn> columns, std::vector<std::vector<text::TableCell>> rows) {
    for (std::size_t column = columns.size(); column-- > 0;) {
      const bool is_empty =
          std::all_of(rows.begin(), rows.end(), [&](const auto& row) { return row[column].text.empty(); });
      if (!is_empty) continue;
      columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(column));
      for (auto& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
    }
    text::TextTable table(std::move(columns));
    for (auto& row : rows) table.add_row(std::move(row));
    text::TextTable::Layout layout = layout_;
    layout.indent = kIndent;
    table.append_text(out_, layout);
  }

  void append_ways() {
    heading("Between the points, from the one that packets pass first to the second");
    std::vector<text::TableColumn> columns{{"way"}};
    for (text::TableColumn& column : count_columns()) columns.push_back(std::move(column));
    std::vector<std::vector<text::TableCell>> rows;
    for (const Way direction : {Way::a_to_b, Way::b_to_a, Way::unknown}) {
      const WaySummary& way = view_.result.way(direction);
      if (way.first + way.second == 0) continue;
      rows.push_back({{way_text(direction, layout_.charset)}});
      add_counts(rows.back(), way);
    }
    append_table(std::move(columns), std::move(rows));
  }

  void append_changes() {
    std::vector<std::string> lines;
    for (const Way direction : {Way::a_to_b, Way::b_to_a, Way::unknown}) {
      const WaySummary& way = view_.result.way(direction);
      std::string text;
      const auto say = [&](std::string what) { text += (text.empty() ? "" : ", ") + std::move(what); };
      if (way.count(Fate::ce_marked) != 0)
        say(fmt::format("{} marked CE", text::count_text(way.count(Fate::ce_marked))));
      if (way.least_hops && (*way.least_hops != 0 || *way.most_hops != 0)) {
        say(*way.least_hops == *way.most_hops
                ? fmt::format("hop limit down by {}", *way.most_hops)
                : fmt::format("hop limit down by {} to {}", *way.least_hops, *way.most_hops));
      }
      if (way.dscp_changed != 0) say(fmt::format("DSCP of {}", text::count_text(way.dscp_changed)));
      if (way.priority_changed != 0) say(fmt::format("VLAN priority of {}", text::count_text(way.priority_changed)));
      if (way.vlan_changed != 0) say(fmt::format("VLAN or tunnel of {}", text::count_text(way.vlan_changed)));
      if (!text.empty()) lines.push_back(fmt::format("  {}: {}", way_text(direction, layout_.charset), text));
    }
    if (lines.empty()) return;
    heading("Changed on the way");
    for (const std::string& text : lines) line(text);
  }

  void append_flows() {
    const auto& flows = view_.result.flows;
    const std::size_t shown = view_.top == 0 ? flows.size() : std::min(view_.top, flows.size());
    heading(shown == flows.size()
                ? std::string{"Directions of streams, the worst first"}
                : fmt::format("The {} worst of {} directions of streams", shown, text::count_text(flows.size())));
    std::vector<text::TableColumn> columns{{"stream in A", text::Align::right}, {"from to"}, {"way"}};
    for (text::TableColumn& column : count_columns()) columns.push_back(std::move(column));
    std::vector<std::vector<text::TableCell>> rows;
    for (std::size_t i = 0; i < shown; ++i) {
      const SeenFlow& flow = view_.flows.flows()[flows[i].flow];
      rows.push_back({{flow.stream == analysis::kNoStream ? std::string{} : std::to_string(flow.stream)},
                      {flow_text(flow, view_.names, layout_.charset)},
                      {way_text(flows[i].way, layout_.charset)}});
      add_counts(rows.back(), flows[i].summary);
    }
    append_table(std::move(columns), std::move(rows));
  }

  text::TextBuffer& out_;
  const JoinView& view_;
  const text::TextTable::Layout& layout_;
};

}  // namespace

std::string flow_text(const SeenFlow& flow, const Names& names, text::Charset charset) {
  return fmt::format("{} {} {} {:#x}", names.text(flow.source), charset == text::Charset::utf8 ? "→" : "->",
                     names.text(flow.destination), flow.dest_qp.value());
}

void append_join_text(text::TextBuffer& out, const JoinView& view, const text::TextTable::Layout& layout) {
  JoinText{out, view, layout}.append_all();
}

}  // namespace roce::analyze
