// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/report/congestion_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/report/stream_text.h"
#include "analyze/run/stream_figures.h"
#include "text/human_units.h"

namespace roce::analyze {

namespace {

using analysis::CongestionSummary;
using analysis::PauseCounts;
using analysis::PauseSummary;
using analysis::StreamSummary;

using Rows = std::vector<std::vector<text::TableCell>>;

text::TextTable table_of(std::vector<text::TableColumn> columns, Rows rows) {
  text::drop_empty_columns(columns, rows);
  text::TextTable table(std::move(columns));
  for (auto& row : rows) table.add_row(std::move(row));
  return table;
}

template <typename Row>
void keep_top(std::vector<Row>& rows, std::size_t top) {
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.weight > b.weight; });
  if (top != 0) rows.resize(std::min(rows.size(), top));
}

std::string some(std::uint64_t count) {
  return count == 0 ? std::string{} : text::count_text(count);
}

std::string some(const analysis::Histogram& times, Duration value) {
  return times.count() == 0 ? std::string{} : text::duration_text(value.count());
}

struct DirectionRow {
  const StreamSummary* stream = nullptr;
  const CongestionSummary* congestion = nullptr;
  std::uint64_t weight = 0;
};

struct PriorityRow {
  const PauseSummary* station = nullptr;
  std::size_t priority = 0;
  std::uint64_t weight = 0;
};

}  // namespace

text::TextTable congestion_table(const SummaryView& view, text::Charset charset) {
  std::vector<DirectionRow> directions;
  for (const StreamSummary& stream : view.result.streams) {
    for (const CongestionSummary& each : stream.congestion) {
      directions.push_back({&stream, &each, each.marks + each.cnps});
    }
  }
  keep_top(directions, view.top);
  Rows rows;
  for (const DirectionRow& row : directions) {
    const CongestionSummary& each = *row.congestion;
    const std::size_t from = each.direction;
    const analysis::CnpReaction& reaction = each.reaction;
    const auto rate = [&](std::uint64_t bytes, Duration time) {
      return reaction.cnps == 0 ? std::string{} : text::bit_rate_text(bits_per_second(bytes, time));
    };
    rows.push_back({{std::to_string(row.stream->stream)},
                    {fmt::format("{} {} {}", view.names.text(row.stream->ends[from]), arrow(charset),
                                 view.names.text(row.stream->ends[1 - from]))},
                    {some(each.marks)},
                    {some(each.cnps)},
                    {some(each.mark_to_cnp, each.mark_to_cnp.quantile(0.5))},
                    {some(each.mark_to_cnp, each.mark_to_cnp.max())},
                    {some(each.cnp_spacing, each.cnp_spacing.min())},
                    {some(each.cnp_spacing, each.cnp_spacing.quantile(0.5))},
                    {rate(reaction.bytes_before, reaction.time_before)},
                    {rate(reaction.bytes_after, reaction.time_after)}});
  }
  return table_of({{"stream", text::Align::right},
                   {"data"},
                   {"CE", text::Align::right},
                   {"CNP", text::Align::right},
                   {"CE to CNP p50", text::Align::right},
                   {"max", text::Align::right},
                   {"CNP spacing min", text::Align::right},
                   {"p50", text::Align::right},
                   {"before CNP", text::Align::right},
                   {"after", text::Align::right}},
                  std::move(rows));
}

text::TextTable pause_table(const SummaryView& view) {
  std::vector<PriorityRow> priorities;
  for (const PauseSummary& station : view.result.pauses) {
    for (std::size_t i = 0; i < station.counts.size(); ++i) {
      const PauseCounts& counts = station.counts[i];
      if (counts.xoff + counts.xon != 0) priorities.push_back({&station, i, counts.xoff});
    }
  }
  keep_top(priorities, view.top);
  const CaptureCounts& capture = view.result.counts;
  const std::int64_t length = capture.first_ns ? *capture.last_ns - *capture.first_ns : 0;
  Rows rows;
  for (const PriorityRow& row : priorities) {
    const PauseCounts& counts = row.station->counts[row.priority];
    const auto ended = [&](Duration time) {
      return counts.ended == 0 ? std::string{} : text::duration_text(time.count());
    };
    const std::int64_t paused = counts.paused.value_or(Duration{}).count();
    rows.push_back({{to_string(row.station->source)},
                    {row.station->host ? view.names.text(*row.station->host) : std::string{}},
                    {row.priority == PauseSummary::kAll ? "all" : std::to_string(row.priority)},
                    {some(counts.xoff)},
                    {some(counts.xon)},
                    {some(counts.quanta)},
                    {counts.paused ? text::duration_text(paused) : std::string{}},
                    {counts.paused ? text::percent_text(static_cast<std::uint64_t>(paused),
                                                        static_cast<std::uint64_t>(std::max<std::int64_t>(length, 0)))
                                   : std::string{}},
                    {ended(counts.xoff_to_xon)},
                    {ended(counts.longest_until_xon)}});
  }
  return table_of({{"station"},
                   {"host"},
                   {"priority", text::Align::right},
                   {"XOFF", text::Align::right},
                   {"XON", text::Align::right},
                   {"quanta", text::Align::right},
                   {"paused", text::Align::right},
                   {"of the time", text::Align::right},
                   {"XOFF to XON", text::Align::right},
                   {"longest", text::Align::right}},
                  std::move(rows));
}

}  // namespace roce::analyze
