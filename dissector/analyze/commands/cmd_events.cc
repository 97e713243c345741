// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <set>

#include "analyze/commands/commands.h"
#include "analyze/report/event_text.h"
#include "analyze/report/json_values.h"
#include "analyze/report/stream_text.h"
#include "analyze/run/carried_state.h"
#include "analyze/run/event_order.h"
#include "analyze/session/analysis_session.h"
#include "command_line/program.h"
#include "text/human_units.h"

namespace roce::analyze {

namespace {

using analysis::Severity;
using analysis::Verdict;

constexpr std::string_view kExamples = R"(Examples:
  roce-analyze events trace.pcap                        everything, in the order of the packets
  roce-analyze events --severity error trace.pcap       only what is bad
  roce-analyze events --verdict rnr_nak --verdict retransmission trace.pcap
  roce-analyze events -Y 'bth.opcode contains "READ"' --stream 3 trace.pcap
  roce-analyze events --follow --severity error ring/   as they happen, until Ctrl-C
  roce-analyze events --json trace.pcap | jq -c 'select(.cause == "timeout") | [.frame, .stream]')";

struct EventsOptions {
  AnalysisOptions common;
  Severity severity = Severity::note;
  std::vector<std::string> verdicts;
};

std::vector<text::TableColumn> columns() {
  return {{"event", text::Align::right},
          {"frame", text::Align::right},
          {"time", text::Align::right},
          {"point", text::Align::left},
          {"stream", text::Align::right},
          {"from to", text::Align::left, "ends"},
          {"severity", text::Align::left},
          {"verdict", text::Align::left},
          {"PSN", text::Align::right, "first_psn"},
          {"PSNs", text::Align::right, "psn_count"},
          {"cause", text::Align::left},
          {"see frame", text::Align::right, "other"},
          {"elapsed", text::Align::right, "elapsed_ns"},
          {"what it means", text::Align::left, "text"},
          {"spurious", text::Align::left},
          {"segment", text::Align::right},
          {"file", text::Align::left},
          {"rule", text::Align::left}};
}

class EventsConsumer final : public AnalysisConsumer {
 public:
  EventsConsumer(AnalysisSession& session, const EventsOptions& options)
      : session_(session),
        options_(options),
        verdicts_(options.verdicts.begin(), options.verdicts.end()),
        rows_(session, columns(), 4, "point"),
        order_([this](std::uint64_t number, const Verdict& verdict) { show(number, verdict); }) {}

  void go_on_from(const CarriedState& state) override {
    order_.go_on_from(state.verdicts.all());
    for (const analysis::StreamSummary& stream : state.open) ends_.learn(stream);
    files_ = SeenFiles{state.files};
    points_ = SeenPoints{state.points};
    start_ns_ = state.start_ns;
  }
  void on_gathered(const GatheredRun& run) override {
    for (const analysis::StreamSummary& stream : run.known_ends) ends_.learn(stream);
    files_ = SeenFiles{run.result.files};
    points_ = SeenPoints{run.result.points};
    start_ns_ = run.start_ns;
  }
  void on_packet(const AnalysedPacket& packet) override {
    ends_.learn(packet);
    files_.learn(packet.file);
    points_.learn(packet);
    if (!start_ns_) start_ns_ = capture_start(packet);
  }
  void on_verdict(const Verdict& verdict) override { order_.add(verdict); }
  void on_tick(RunSoFar& /*run*/) override {
    order_.finish();
    rows_.show();
  }
  [[nodiscard]] bool is_over() const override { return session_.output().is_over(); }

  void finish() {
    order_.finish();
    rows_.finish();
  }

 private:
  void show(std::uint64_t number, const Verdict& verdict) {
    const analysis::VerdictInfo& info = verdict_info(verdict.kind);
    if (info.severity < options_.severity || !session_.is_wanted(verdict.stream)) return;
    if (!verdicts_.empty() && !verdicts_.contains(std::string{info.name})) return;
    if (!session_.is_chosen(verdict.packet)) return;
    if (!options_.common.json) return rows_.add(row_of(number, verdict));
    text::append(session_.output().buffer(), event_line(number, verdict, files_, points_));
    session_.output().commit();
  }

  [[nodiscard]] std::vector<text::TableCell> row_of(std::uint64_t number, const Verdict& verdict) const {
    const analysis::VerdictInfo& info = verdict_info(verdict.kind);
    const FramePlace place = files_.find(verdict.packet.frame);
    const std::int64_t time = verdict.time.time_since_epoch().count();
    const bool has_stream = verdict.stream != analysis::kNoStream;
    const text::Tone tone = info.severity == Severity::error     ? text::Tone::bad
                            : info.severity == Severity::warning ? text::Tone::caution
                                                                 : text::Tone::plain;
    const std::uint64_t other = verdict.other ? files_.find(verdict.other.frame).number : 0;
    std::string frame = frame_text(place, files_);
    if (verdict.packet.segment != 0) frame += fmt::format(".{}", verdict.packet.segment + 1);
    return {{std::to_string(number), text::Tone::faint, number},
            {std::move(frame), text::Tone::plain, place.number},
            {seconds_text(time - start_ns_.value_or(time)), text::Tone::plain, utc_text(time)},
            {std::string{points_.distinctive_name(verdict.point)}, text::Tone::plain,
             std::string{points_.name(verdict.point)}},
            has_stream
                ? text::TableCell{std::to_string(verdict.stream), text::Tone::plain, std::uint64_t{verdict.stream}}
                : text::TableCell{},
            {has_stream ? ends_.text(verdict.stream, 0, session_.names(), session_.layout().charset) : ""},
            {std::string{severity_text(info.severity)}, tone},
            {std::string{info.name}, tone},
            {std::to_string(verdict.first_psn.value()), text::Tone::plain, std::uint64_t{verdict.first_psn.value()}},
            {text::count_text(verdict.psn_count), text::Tone::plain, std::uint64_t{verdict.psn_count}},
            {std::string{to_string(verdict.cause)} + (verdict.spurious ? " spurious" : ""), text::Tone::plain,
             std::string{to_string(verdict.cause)}},
            other != 0 ? text::TableCell{std::to_string(other), text::Tone::plain, other} : text::TableCell{},
            verdict.elapsed != Duration{} ? text::TableCell{text::duration_text(verdict.elapsed.count()),
                                                            text::Tone::plain, std::int64_t{verdict.elapsed.count()}}
                                          : text::TableCell{},
            {event_text(verdict)},
            {"", text::Tone::plain, verdict.spurious},
            {"", text::Tone::plain, std::uint64_t{verdict.packet.segment}},
            {place.file != nullptr ? place.file->path : std::string{}},
            {std::string{rule_info(verdict.rule).identifier}}};
  }

  AnalysisSession& session_;
  const EventsOptions& options_;
  std::set<std::string> verdicts_;
  RowWriter rows_;
  EventOrder order_;
  StreamEnds ends_;
  SeenFiles files_;
  SeenPoints points_;
  std::optional<std::int64_t> start_ns_;
};

ExitCode run_events(const EventsOptions& options) {
  AnalysisSession session{options.common};
  if (!session.open()) return session.finish();
  EventsConsumer consumer{session, options};
  analysis::TrackerOptions tracker;
  tracker.keep_messages = tracker.keep_answers = false;
  static_cast<void>(session.run(consumer, tracker));
  consumer.finish();
  return session.finish();
}

}  // namespace

void add_events(command_line::Program& program, ExitCode& code, AnalysisEngine* engine) {
  command_line::Command command = program.add_subcommand("events", "One row a verdict, in the order of the packets");
  const auto options = std::make_shared<EventsOptions>();
  options->common.engine = engine;
  add_common_options(command, options->common);
  add_list_options(command, options->common);
  add_carry_options(command, options->common);
  add_follow_options(command, options->common);
  command
      .add_choice("--severity", options->severity,
                  {{"note", Severity::note}, {"warning", Severity::warning}, {"error", Severity::error}},
                  "note (the default), warning or error: only these and worse")
      .type_name("LEVEL");
  command.add_option("--verdict", options->verdicts, "Only this verdict; roce-analyze rules lists them")
      .expected(1)
      .take_all()
      .allow_extra_args(false)
      .check([](const std::string& name) {
        return analysis::verdict_from_name(name)
                   ? std::string{}
                   : fmt::format("there is no verdict '{}'; roce-analyze rules lists them", name);
      })
      .type_name("NAME");
  command.footer(std::string{kExamples});
  command.callback([options, &code] { code = run_events(*options); });
}

}  // namespace roce::analyze
