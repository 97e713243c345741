// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <set>

#include "analyze/commands/commands.h"
#include "analyze/input/report.h"
#include "analyze/join/join_format.h"
#include "analyze/session/analysis_session.h"
#include "command_line/number_text.h"
#include "command_line/program.h"
#include "text/human_units.h"

namespace roce::analyze {

namespace {

constexpr std::string_view kExamples = R"(Examples:
  roce-analyze join sender.pcap receiver.pcap              what died between, and how long the way takes
  roce-analyze join --packets sender.pcap receiver.pcap    every packet to which something happened
  roce-analyze join --fate lost --csv sender.pcap receiver.pcap
  roce-analyze join --offset 0 leaf.pcap spine.pcap        both clocks are known to be the same
  roce-analyze join --a sw1-0.pcap sw1-1.pcap --b sw2/     several files, one capture each

A packet is the same at both points if addresses, QP, opcode, PSN and ICRC are. The clocks need not agree: with packets
that pass A first and others that pass B first the offset is estimated, with its uncertainty.

Fates: lost, damaged, duplicated, reordered, ce_marked, missed (by the capture at the first point), orphaned (damaged,
original unknown), only_a and only_b (which point is the first is unknown), not_judged (outside the other capture).)";

struct JoinCommandOptions {
  AnalysisOptions common;  ///< its inputs are not used
  std::string point_a;     ///< empty: not given
  std::string point_b;
  std::vector<std::string> a;
  std::vector<std::string> b;
  std::string offset;
  std::string within;
  std::vector<Fate> fates;
  bool packets = false;
  bool same_span = false;
  std::size_t top = 10;
};

/// Stores the fields of each RoCE packet of one capture.
class SideConsumer final : public AnalysisConsumer {
 public:
  SideConsumer(JoinSide& side, FlowTable& flows, std::uint32_t SeenFlow::*stream)
      : side_(side), flows_(flows), stream_(stream) {}

  void on_packet(const AnalysedPacket& packet) override {
    if (!packet.decoded.packet.is_roce()) return;
    const analysis::Observation& seen = packet.observation;
    const std::uint32_t number = flows_.number(seen.source, seen.destination, seen.dest_qp);
    std::uint32_t& stream = flows_.flow(number).*stream_;
    if (stream == analysis::kNoStream) stream = packet.analysis.stream;
    side_.packets.push_back(see_packet(seen, number));
  }

 private:
  JoinSide& side_;
  FlowTable& flows_;
  std::uint32_t SeenFlow::*stream_;
};

/// Checks the captures on the command line and reports mistakes. True if there are none.
bool take_points(JoinCommandOptions& options) {
  const int points = (options.point_a.empty() ? 0 : 1) + (options.point_b.empty() ? 0 : 1);
  if (points == 2 && options.a.empty() && options.b.empty()) {
    options.a = {options.point_a};
    options.b = {options.point_b};
  } else if (points != 0 || options.a.empty() || options.b.empty()) {
    report(fmt::format("join takes two captures, A and B, found {}; of several files each: --a FILE... --b FILE...",
                       points == 0
                           ? fmt::format("{} file(s) for --a and {} for --b", options.a.size(), options.b.size())
                           : fmt::format("{}", points)));
    return false;
  }
  for (const std::string& a : options.a) {
    for (const std::string& b : options.b) {
      std::error_code ignored;
      if (a != b && !std::filesystem::equivalent(a, b, ignored)) continue;
      report(fmt::format("'{}' is given for A and for B: join compares captures of two points", b));
      return false;
    }
  }
  return true;
}

bool take_durations(const JoinCommandOptions& options, JoinOptions& join) {
  const auto refuse = [](std::string_view option, const std::string& found) {
    report(fmt::format("{}: expected a duration such as 250us or 1.5ms, found {}", option, command_line::quote(found)));
    return false;
  };
  if (!options.offset.empty()) {
    join.offset_ns = text::parse_duration(options.offset);
    if (!join.offset_ns || *join.offset_ns > kLatestSeen || *join.offset_ns < -kLatestSeen) {
      return refuse("--offset", options.offset);
    }
  }
  if (!options.within.empty()) {
    const std::optional<std::int64_t> within = text::parse_duration(options.within);
    if (!within || *within < 0) return refuse("--within", options.within);
    join.within_ns = *within;
  }
  return true;
}

/// Reads one capture. Returns false if there is none.
bool read_side(AnalysisSession& session, JoinSide& side, FlowTable& flows, std::uint32_t SeenFlow::*stream,
               AnalysisResult& read) {
  if (!session.open()) return false;
  SideConsumer consumer{side, flows, stream};
  analysis::TrackerOptions tracker;
  tracker.keep_messages = false;
  tracker.keep_answers = false;
  read = session.run(consumer, tracker);
  side.first_ns = read.counts.first_ns.value_or(0);
  side.last_ns = read.counts.last_ns.value_or(0);
  return read.counts.frames != 0 || read.is_complete();
}

ExitCode run_join(JoinCommandOptions& options) {
  JoinOptions join;
  if (!take_points(options) || !take_durations(options, join)) return ExitCode::usage;
  const std::set<Fate> wanted(options.fates.begin(), options.fates.end());
  const bool is_list = options.packets || options.common.csv || !wanted.empty();
  join.same_span = options.same_span;
  join.keep_fates = is_list;

  AnalysisOptions of_a = options.common;
  of_a.inputs = options.a;
  AnalysisOptions of_b = options.common;
  of_b.inputs = options.b;
  AnalysisSession session{of_a};
  AnalysisSession session_b{of_b};
  FlowTable flows;
  JoinSide a;
  JoinSide b;
  AnalysisResult read_a;
  AnalysisResult read_b;
  if (!read_side(session, a, flows, &SeenFlow::stream, read_a)) return session.finish();
  if (!read_side(session_b, b, flows, &SeenFlow::stream_b, read_b)) return session_b.finish();
  if (session_b.finish() != ExitCode::ok) session.fail(ExitCode::failed);

  const JoinResult result = join_captures(a, b, flows, join);
  const JoinView view{a, b, read_a, read_b, flows, result, session.names(), options.top};
  if (is_list) {
    write_packet_fates(session, view, wanted);
  } else if (options.common.json) {
    append_join_json(session.output().buffer(), view);
  } else {
    append_join_text(session.output().buffer(), view, session.layout());
  }
  return session.finish();
}

}  // namespace

void add_join(command_line::Program& program, ExitCode& code) {
  command_line::Command command = program.add_subcommand("join", "What happened between two capture points");
  const auto options = std::make_shared<JoinCommandOptions>();
  command
      .add_option("A", options->point_a,
                  "Capture of the one point: a file (pcap, pcapng, .gz, .zst) or a directory of them")
      .type_name("");
  command.add_option("B", options->point_b, "Of the other").type_name("");
  command.add_option("--a", options->a, "Files and directories that are the capture of A together").type_name("FILE");
  command.add_option("--b", options->b, "Of B").type_name("FILE");
  add_output_options(command, options->common);
  command.add_flag("--csv", options->common.csv, "For programs: the packets as CSV").excludes("--json");
  command.add_flag("--packets", options->packets, "A row for each packet to which something happened");
  command_line::Choices<Fate> fates;
  for (std::size_t i = 0; i < kFates; ++i) fates.emplace_back(to_string(static_cast<Fate>(i)), static_cast<Fate>(i));
  command
      .add_choices("--fate", options->fates, fates,
                   "Only packets with this fate (see below); may be given several times")
      .expected(1)
      .take_all()
      .allow_extra_args(false)
      .type_name("NAME");
  command.add_option("--offset", options->offset, "How far B's clock is ahead of A's, if it is known: 0, 12us, =-3ms")
      .type_name("TIME");
  command.add_option("--within", options->within, "How much longer than usual a packet may take (1s)")
      .type_name("TIME");
  command.add_flag("--same-span", options->same_span,
                   "Both captures ran all the time: what is missing at their starts and ends was lost");
  command.add_option("--top", options->top, "How many directions of streams are listed (10); 0: all")
      .type_name("NUMBER");
  command.footer(std::string{kExamples});
  options->common.mixes_points = true;
  command.callback([options, &code] { code = run_join(*options); });
}

}  // namespace roce::analyze
