// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <memory>

#include "analyze/commands/commands.h"
#include "analyze/copy/capture_copy.h"
#include "analyze/copy/packet_remarks.h"
#include "analyze/input/report.h"
#include "analyze/run/event_order.h"
#include "analyze/session/analysis_session.h"
#include "command_line/counted.h"
#include "command_line/program.h"

namespace roce::analyze {

namespace {

using analysis::Severity;

constexpr std::string_view kExamples = R"(Examples:
  roce-analyze annotate trace.pcap judged.pcapng      then open it in any Wireshark: filter frame.comment
  roce-analyze annotate --severity warning trace.pcapng.gz judged.pcapng
  tshark -r judged.pcapng -Y frame.comment -T fields -e frame.number -e frame.comment)";

struct AnnotateOptions {
  std::string input;
  std::string output;
  Severity severity = Severity::note;
};

class RemarksConsumer final : public AnalysisConsumer {
 public:
  explicit RemarksConsumer(Severity least)
      : remarks_(least),
        order_([this](std::uint64_t number, const analysis::Verdict& verdict) { remarks_.add(number, verdict); }) {}

  void on_verdict(const analysis::Verdict& verdict) override { order_.add(verdict); }
  const PacketRemarks& finish() {
    order_.finish();
    return remarks_;
  }

 private:
  PacketRemarks remarks_;
  EventOrder order_;
};

ExitCode run_annotate(const AnnotateOptions& options) {
  AnalysisOptions common;
  common.inputs = {options.input};
  AnalysisSession session{common};
  if (!session.open()) return session.finish();
  const auto refuse = [](const CopyFailure& failure) {
    report(failure.message);
    return failure.code;
  };
  if (session.inputs().size() != 1 || !session.inputs().front().is_regular) {
    return refuse({ExitCode::usage,
                   fmt::format("cannot annotate '{}': it has to be one file, since it is read twice", options.input)});
  }
  auto copy = CaptureCopy::make(options.output, session.inputs());
  if (!copy) return refuse(copy.error());
  RemarksConsumer consumer{options.severity};
  analysis::TrackerOptions tracker;
  tracker.keep_messages = tracker.keep_answers = false;
  const AnalysisResult result = session.run(consumer, tracker);
  if (result.files.front().frames == 0 && !result.is_complete()) return session.finish();
  const PacketRemarks& remarks = consumer.finish();
  std::uint64_t remarked = 0;
  const auto added = copy->add(session.inputs().front().path, {[](std::uint64_t) { return true; },
                                                               [&](std::uint64_t frame) {
                                                                 std::string text = remarks.text(frame, result.files);
                                                                 remarked += text.empty() ? 0 : 1;
                                                                 return text;
                                                               }});
  // Problems of the input were reported when it was analysed.
  if (!added && !added.error().is_of_input) return refuse(added.error());
  if (const auto finished = copy->finish(); !finished) return refuse(finished.error());
  report(fmt::format("{}: {}, {} of them with remarks", options.output,
                     command_line::counted(copy->frames(), "frame", "frames"), remarked));
  if (copy->shortened() != 0) {
    report(fmt::format("warning: {} several comments, of which the first was kept",
                       command_line::counted(copy->shortened(), "frame had", "frames had")));
  }
  return session.finish();
}

}  // namespace

void add_annotate(command_line::Program& program, ExitCode& code) {
  command_line::Command command =
      program.add_subcommand("annotate", "Write a capture again with the verdicts as packet comments");
  const auto options = std::make_shared<AnnotateOptions>();
  command.add_option("IN", options->input, "Capture file (pcap, pcapng, .gz, .zst)").required();
  command.add_option("OUT", options->output, "What to write: .pcapng, .pcapng.gz or .pcapng.zst").required();
  command
      .add_choice("--severity", options->severity,
                  {{"note", Severity::note}, {"warning", Severity::warning}, {"error", Severity::error}},
                  "note (the default), warning or error: only these and worse")
      .type_name("LEVEL");
  command.footer(std::string{kExamples});
  command.callback([options, &code] { code = run_annotate(*options); });
}

}  // namespace roce::analyze
