// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "analyze/commands/commands.h"
#include "analyze/copy/capture_copy.h"
#include "analyze/copy/packet_remarks.h"
#include "analyze/input/report.h"
#include "analyze/run/event_order.h"
#include "analyze/session/analysis_session.h"
#include "command_line/counted.h"
#include "command_line/program.h"
#include "text/human_units.h"

namespace roce::analyze {

namespace {

using analysis::Verdict;

constexpr std::string_view kExamples = R"(Examples:
  roce-analyze extract --stream 3 -o stream3.pcapng trace.pcap
  roce-analyze extract --event 17 --around 5ms -o loss.pcapng trace.pcap    its stream, 5 ms before and after
  roce-analyze extract --event 17 --all-streams -o loss.pcapng trace.pcap   everything around it
  roce-analyze extract -Y 'roce.analysis.rnr_nak' -o rnr.pcapng trace.pcap

Events are numbered as `roce-analyze events` lists them for the same files. The packets carry the verdicts on them as
comments.)";

struct ExtractOptions {
  AnalysisOptions common;
  std::uint64_t event = 0;
  std::string around = "10ms";
  std::string output;
  bool all_streams = false;
};

/// The first pass: collects the remarks on frames, the frames that the options choose, and the event that is asked for.
class FindingConsumer final : public AnalysisConsumer {
 public:
  FindingConsumer(const AnalysisSession& session, std::uint64_t event)
      : session_(session),
        event_(event),
        remarks_(analysis::Severity::note),
        order_([this](std::uint64_t number, const Verdict& verdict) {
          remarks_.add(number, verdict);
          last_ = number;
          if (number == event_) found_ = verdict;
        }) {}

  void on_packet(const AnalysedPacket& packet) override {
    if (event_ != 0) return;
    const analysis::PacketId id = packet.observation.id;
    if (session_.is_wanted(packet.analysis.stream) && session_.is_chosen(id)) frames_.insert({id.frame, 0});
  }
  void on_verdict(const Verdict& verdict) override { order_.add(verdict); }
  void finish() { order_.finish(); }

  [[nodiscard]] const std::optional<Verdict>& found() const { return found_; }
  [[nodiscard]] std::uint64_t last() const { return last_; }
  [[nodiscard]] const PacketRemarks& remarks() const { return remarks_; }
  [[nodiscard]] PacketSet& frames() { return frames_; }

 private:
  const AnalysisSession& session_;
  std::uint64_t event_;
  PacketRemarks remarks_;
  EventOrder order_;
  std::optional<Verdict> found_;
  std::uint64_t last_ = 0;
  PacketSet frames_;
};

/// The second pass for an event: chooses the packets around it.
class SurroundingsConsumer final : public AnalysisConsumer {
 public:
  SurroundingsConsumer(const Verdict& event, Duration around, bool all_streams, PacketSet& frames)
      : event_(event), around_(around), all_streams_(all_streams), frames_(frames) {}

  void on_packet(const AnalysedPacket& packet) override {
    const Duration distance = packet.observation.time - event_.time;
    const bool is_near = distance <= around_ && -distance <= around_;
    const bool is_its_own = all_streams_ || packet.analysis.stream == event_.stream;
    const bool is_it = packet.observation.id.frame == event_.packet.frame;
    if (is_it || (is_near && is_its_own)) frames_.insert({packet.observation.id.frame, 0});
  }

 private:
  const Verdict& event_;
  Duration around_;
  bool all_streams_;
  PacketSet& frames_;
};

ExitCode refuse(const CopyFailure& failure) {
  report(failure.message);
  return failure.code;
}

/// Returns the problem of the command line; nothing if there is none.
std::optional<std::string> find_mistake(const ExtractOptions& options) {
  const int ways = (options.event != 0 ? 1 : 0) + (options.common.stream || !options.common.filter.empty() ? 1 : 0);
  if (ways != 1) return "which packets? --event NUMBER, or --stream NUMBER and -Y EXPRESSION or one of these";
  const auto around = text::parse_duration(options.around);
  if (!around || *around < 0) {
    return fmt::format("--around takes a duration such as 5ms, 250us or 1s, not '{}'", options.around);
  }
  return std::nullopt;
}

ExitCode run_extract(const ExtractOptions& options) {
  if (const auto mistake = find_mistake(options)) return refuse({ExitCode::usage, *mistake});
  AnalysisSession session{options.common};
  if (!session.open()) return session.finish();
  for (const InputFile& input : session.inputs()) {
    if (input.is_regular) continue;
    return refuse({ExitCode::usage, fmt::format("cannot extract from '{}': it has to be read twice; save it to a file "
                                                "first",
                                                input.path == "-" ? "standard input" : input.path)});
  }
  auto copy = CaptureCopy::make(options.output, session.inputs());
  if (!copy) return refuse(copy.error());
  FindingConsumer finding{session, options.event};
  analysis::TrackerOptions tracker;
  tracker.keep_messages = tracker.keep_answers = false;
  const AnalysisResult result = session.run(finding, tracker);
  finding.finish();
  const bool is_unread =
      std::all_of(result.files.begin(), result.files.end(), [](const CaptureFile& file) { return file.frames == 0; });
  if (is_unread && !result.is_complete()) return session.finish();
  if (options.event != 0) {
    if (!finding.found()) {
      return refuse({ExitCode::usage, fmt::format("there is no event {}: there are {}; roce-analyze events lists them",
                                                  options.event, finding.last())});
    }
    SurroundingsConsumer surroundings{*finding.found(), Duration{*text::parse_duration(options.around)},
                                      options.all_streams, finding.frames()};
    AnalysisRunOptions again;
    again.window = session.window();
    again.tracker = tracker;
    again.quiet = true;
    static_cast<void>(run_analysis(session.inputs(), again, surroundings));
  }
  for (const CaptureFile& file : result.files) {
    const auto added =
        copy->add(file.path,
                  {[&](std::uint64_t frame) {
                     return finding.frames().contains({file.frame_base + frame, 0});
                   },
                   [&](std::uint64_t frame) { return finding.remarks().text(file.frame_base + frame, result.files); }});
    // Problems of the input were reported when it was analysed.
    if (!added && !added.error().is_of_input) return refuse(added.error());
  }
  if (const auto finished = copy->finish(); !finished) return refuse(finished.error());
  report(fmt::format("{}: {}{}", options.output, command_line::counted(copy->frames(), "frame", "frames"),
                     copy->frames() == 0 ? "; nothing matches" : ""));
  return session.finish();
}

}  // namespace

void add_extract(command_line::Program& program, ExitCode& code) {
  command_line::Command command =
      program.add_subcommand("extract", "Cut out the packets worth looking at, for Wireshark");
  const auto options = std::make_shared<ExtractOptions>();
  command.add_option("FILE", options->common.inputs, "Capture files or directories of them");
  command.add_option("-o,--output", options->output, "What to write: .pcapng, .pcapng.gz or .pcapng.zst")
      .required()
      .type_name("FILE");
  command.add_option("--stream", options->common.stream, "The packets of this stream").type_name("NUMBER");
  command.add_option("-Y,--filter", options->common.filter, "The packets that pass this expression")
      .type_name("EXPRESSION");
  command.add_option("--event", options->event, "The packets around this event, of its stream")
      .positive()
      .type_name("NUMBER");
  command.add_option("--around", options->around, "How far before and after the event (10ms)").type_name("DURATION");
  command.add_flag("--all-streams", options->all_streams, "Around the event, the packets of every stream");
  command.add_option("--from", options->common.from, "Analyse nothing before this time").type_name("TIME");
  command.add_option("--to", options->common.to, "Analyse nothing after this time").type_name("TIME");
  command.footer(std::string{kExamples});
  command.callback([options, &code] { code = run_extract(*options); });
}

}  // namespace roce::analyze
