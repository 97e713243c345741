// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "analyze/commands/commands.h"
#include "analyze/report/json_values.h"
#include "analyze/report/stream_text.h"
#include "analyze/run/stream_figures.h"
#include "analyze/session/analysis_session.h"
#include "analyze/session/chosen_streams.h"
#include "command_line/program.h"
#include "text/human_units.h"

namespace roce::analyze {

namespace {

using analysis::StreamSummary;
using analysis::VerdictKind;

constexpr std::string_view kExamples = R"(Examples:
  roce-analyze streams trace.pcap
  roce-analyze streams --sort p99 --top 10 trace.pcap
  roce-analyze streams -Y 'roce.analysis.retransmission and roce.src == 192.0.2.0/24' trace.pcap
  roce-analyze streams --json trace.pcap | jq 'select(.lost_psns > 0) | .ends')";

struct StreamsOptions {
  AnalysisOptions common;
  std::string sort = "worst";
  std::size_t top = 0;
};

std::uint64_t sum(const StreamSummary& stream, std::uint64_t analysis::DirectionSummary::*member) {
  return stream.directions[0].*member + stream.directions[1].*member;
}

std::uint64_t messages(const StreamSummary& stream) {
  std::uint64_t all = 0;
  for (const analysis::DirectionSummary& direction : stream.directions) {
    for (const std::uint64_t count : direction.messages) all += count;
  }
  return all;
}

/// Returns the value by which streams are sorted, the largest first.
using SortKey = std::function<double(const StreamSummary&)>;

const std::map<std::string, SortKey>& sort_keys() {
  const auto count = [](VerdictKind kind) {
    return [kind](const StreamSummary& stream) { return static_cast<double>(stream.count(kind)); };
  };
  const auto latency = [](double fraction) {
    return [fraction](const StreamSummary& stream) {
      return static_cast<double>(latencies(stream).quantile(fraction).count());
    };
  };
  using Direction = analysis::DirectionSummary;
  static const std::map<std::string, SortKey> keys{
      {"packets", [](const StreamSummary& s) { return static_cast<double>(sum(s, &Direction::packets)); }},
      {"bytes", [](const StreamSummary& s) { return static_cast<double>(sum(s, &Direction::bytes)); }},
      {"messages", [](const StreamSummary& s) { return static_cast<double>(messages(s)); }},
      {"goodput", [](const StreamSummary& s) { return goodput(s); }},
      {"resent", [](const StreamSummary& s) { return static_cast<double>(retransmissions(s)); }},
      {"lost", [](const StreamSummary& s) { return static_cast<double>(s.lost_packets); }},
      {"nak",
       [](const StreamSummary& s) {
         return static_cast<double>(error_naks(s) + s.count(VerdictKind::nak_sequence_error));
       }},
      {"rnr", count(VerdictKind::rnr_nak)},
      {"ce", count(VerdictKind::ce_mark)},
      {"cnp", count(VerdictKind::cnp)},
      {"p50", latency(0.5)},
      {"p99", latency(0.99)},
      {"max", [](const StreamSummary& s) { return static_cast<double>(latencies(s).max().count()); }}};
  return keys;
}

/// Finds the streams that have a packet that passes the filter.
class StreamsConsumer final : public AnalysisConsumer {
 public:
  explicit StreamsConsumer(const AnalysisSession& session) : session_(session), chosen_(session) {}

  void on_packet(const AnalysedPacket& packet) override { chosen_.learn(packet); }
  [[nodiscard]] bool wants_packets() const override { return session_.has_filter(); }

  [[nodiscard]] bool lists(std::uint32_t stream) const override { return is_wanted(stream); }

  [[nodiscard]] bool is_wanted(std::uint32_t stream) const { return chosen_.is_wanted(stream); }

 private:
  const AnalysisSession& session_;
  ChosenStreams chosen_;
};

text::TableCell number(std::uint64_t value, text::Tone tone = text::Tone::plain) {
  return {value == 0 ? "-" : text::count_text(value), value == 0 ? text::Tone::faint : tone, value};
}

text::TableCell duration(bool is_known, Duration value) {
  if (!is_known) return {};
  return {text::duration_text(value.count()), text::Tone::plain, std::int64_t{value.count()}};
}

std::vector<text::TableColumn> columns() {
  return {{"stream", text::Align::right},
          {"point", text::Align::left},
          {"ends", text::Align::left, "ends"},
          {"svc", text::Align::left, "service"},
          {"start", text::Align::right, "start"},
          {"time", text::Align::right, "duration_ns"},
          {"packets", text::Align::right},
          {"bytes", text::Align::right},
          {"messages", text::Align::right},
          {"goodput", text::Align::right, "goodput_bits_per_second"},
          {"resent", text::Align::right},
          {"before", text::Align::right, "lost_before"},
          {"after", text::Align::right, "lost_after"},
          {"beyond", text::Align::right, "lost_beyond"},
          {"NAK", text::Align::right, "nak"},
          {"RNR", text::Align::right, "rnr"},
          {"CE", text::Align::right, "ce"},
          {"CNP", text::Align::right, "cnp"},
          {"p50", text::Align::right, "p50_ns"},
          {"p99", text::Align::right, "p99_ns"},
          {"max", text::Align::right, "max_ns"}};
}

std::vector<text::TableCell> row_of(const StreamSummary& stream, const LossPlaces& lost, const AnalysisSession& session,
                                    const SeenPoints& points, std::int64_t start_ns) {
  const analysis::Histogram latency = latencies(stream);
  const bool has_latency = latency.count() != 0;
  const double rate = goodput(stream);
  const std::int64_t start = stream.start.time_since_epoch().count();
  const std::uint64_t bytes = sum(stream, &analysis::DirectionSummary::bytes);
  const std::uint64_t naks = error_naks(stream) + stream.count(VerdictKind::nak_sequence_error);
  return {
      {std::to_string(stream.stream), text::Tone::plain, std::uint64_t{stream.stream}},
      {std::string{points.distinctive_name(stream.point)}, text::Tone::plain, std::string{points.name(stream.point)}},
      {ends_text(stream, session.names(), session.layout().charset)},
      {std::string{service_text(stream.service)}},
      {seconds_text(start - start_ns), text::Tone::plain, utc_text(start)},
      duration(true, stream.end - stream.start),
      number(sum(stream, &analysis::DirectionSummary::packets)),
      {text::bytes_text(bytes), text::Tone::plain, bytes},
      number(messages(stream)),
      {rate > 0 ? text::bit_rate_text(rate) : "-", rate > 0 ? text::Tone::plain : text::Tone::faint, rate},
      number(retransmissions(stream), text::Tone::caution),
      number(lost.before, text::Tone::bad),
      number(lost.after, text::Tone::bad),
      number(lost.beyond, text::Tone::bad),
      number(naks, error_naks(stream) != 0 ? text::Tone::bad : text::Tone::caution),
      number(stream.count(VerdictKind::rnr_nak), text::Tone::caution),
      number(stream.count(VerdictKind::ce_mark)),
      number(stream.count(VerdictKind::cnp)),
      duration(has_latency, latency.quantile(0.5)),
      duration(has_latency, latency.quantile(0.99)),
      duration(has_latency, latency.max())};
}

ExitCode run_streams(const StreamsOptions& options) {
  AnalysisSession session{options.common};
  if (!session.open()) return session.finish();
  StreamsConsumer consumer{session};
  analysis::TrackerOptions tracker;
  tracker.keep_messages = tracker.keep_answers = false;
  const AnalysisResult result = session.run(consumer, tracker);
  std::vector<const StreamSummary*> streams;
  for (const StreamSummary& stream : result.streams) {
    if (consumer.is_wanted(stream.stream)) streams.push_back(&stream);
  }
  const auto key = sort_keys().find(options.sort);
  if (key != sort_keys().end()) {
    std::stable_sort(streams.begin(), streams.end(),
                     [&](const StreamSummary* a, const StreamSummary* b) { return key->second(*a) > key->second(*b); });
  } else if (options.sort == "worst") {
    std::stable_sort(streams.begin(), streams.end(),
                     [](const StreamSummary* a, const StreamSummary* b) { return is_worse(*a, *b); });
  }
  if (options.top != 0) streams.resize(std::min(options.top, streams.size()));
  RowWriter rows{session, columns(), 0, "point"};
  const SeenPoints points{result.points};
  for (const StreamSummary* stream : streams) {
    const LossPlaces lost = result.verdicts.lost_of(stream->stream);
    if (options.common.json) {
      OrderedJson row = stream_json(*stream, session.names(), result.points);
      row["lost"] = OrderedJson{{"before", lost.before}, {"after", lost.after}, {"beyond", lost.beyond}};
      text::append(session.output().buffer(), json_line(row));
      session.output().commit();
    } else {
      rows.add(row_of(*stream, lost, session, points, result.counts.first_ns.value_or(0)));
    }
  }
  rows.finish();
  return session.finish();
}

}  // namespace

void add_streams(command_line::Program& program, ExitCode& code, AnalysisEngine* engine) {
  command_line::Command command =
      program.add_subcommand("streams", "One row a stream (a connection, or a flow of datagrams)");
  const auto options = std::make_shared<StreamsOptions>();
  options->common.engine = engine;
  add_common_options(command, options->common);
  add_list_options(command, options->common);
  add_carry_options(command, options->common);
  std::vector<std::string> keys{"worst", "stream"};
  for (const auto& [name, key] : sort_keys()) keys.push_back(name);
  command.add_option("--sort", options->sort, fmt::format("What comes first: {} (worst)", fmt::join(keys, ", ")))
      .one_of(keys, command_line::Listing::hidden)
      .type_name("KEY");
  command.add_option("--top", options->top, "How many rows at most").type_name("NUMBER");
  command.footer(std::string{kExamples});
  command.callback([options, &code] { code = run_streams(*options); });
}

}  // namespace roce::analyze
