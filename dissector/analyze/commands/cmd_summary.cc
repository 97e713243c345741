// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/commands/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyze/charts/report_json.h"
#include "analyze/charts/series_thread.h"
#include "analyze/commands/following_summary.h"
#include "analyze/input/report.h"
#include "analyze/join/point_join.h"
#include "analyze/report/summary_format.h"
#include "analyze/run/worker_threads.h"
#include "analyze/session/analysis_session.h"
#include "analyze/session/chosen_streams.h"
#include "command_line/program.h"
#include "page/page.h"
#include "page/page_file.h"
#include "roce/link/output_file.h"
#include "text/human_units.h"

namespace roce::analyze {

namespace {

constexpr std::string_view kExamples = R"(Examples:
  roce-analyze trace.pcap                          what is in it, and what is wrong
  roce-analyze ring/                               all pieces of a ring buffer as one capture
  roce-analyze --quick huge.pcap                   the same of its first million frames
  roce-analyze -Y roce.analysis.rnr_nak trace.pcap only of connections that found no receive posted
  roce-analyze --names hosts.txt --top 30 a.pcapng.gz b.pcapng.zst
  roce-analyze --report report.html trace.pcap     and a page with plots and tables for a browser
  roce-analyze summary --json trace.pcap | jq '.verdict, .lost'
  roce-analyze --follow ring/                      while a capture goes on, until Ctrl-C
  roce-analyze -i eth0                             the same of what comes to an interface

Exit code: 0 all files were read, whatever is wrong in them; 1 a file could not be read (to its end; what was read is
judged), capture points contradict each other, the output could not be written or memory ran out, 2 wrong command line.)";

constexpr std::uint64_t kQuickFrames = 1'000'000;

struct SummaryOptions {
  AnalysisOptions common;
  bool quick = false;
  std::size_t top = 10;
};

/// The events of one stream. Kept small, because there may be many streams.
class StreamVerdicts {
 public:
  void add(const analysis::Verdict& verdict) {
    verdicts_.add(verdict.kind);
    packets_.add(verdict.kind, packets_of(verdict));
    rules_.add(verdict.rule);
    VerdictCounts one;
    one.add(verdict);
    losses_ += one.losses;
  }
  StreamVerdicts& operator+=(const StreamVerdicts& other) {
    verdicts_ += other.verdicts_;
    packets_ += other.packets_;
    rules_ += other.rules_;
    losses_ += other.losses_;
    return *this;
  }
  /// Adds the verdicts on `stream` to `all`.
  void add_to(VerdictCounts& all, std::uint32_t stream) const {
    for (const auto& [kind, count] : verdicts_.entries()) all.kinds[static_cast<std::size_t>(kind)].verdicts += count;
    for (const auto& [kind, count] : packets_.entries()) all.kinds[static_cast<std::size_t>(kind)].packets += count;
    for (const auto& [rule, count] : rules_.entries()) all.rules[static_cast<std::size_t>(rule)] += count;
    all.losses += losses_;
    if (losses_.total() != 0) all.losses_of_stream[stream] += losses_;
  }

 private:
  analysis::Tally<analysis::VerdictKind> verdicts_;
  analysis::Tally<analysis::VerdictKind> packets_;
  analysis::Tally<analysis::Rule> rules_;
  LossPlaces losses_;
};

/// Finds the streams that were asked for, unless all were, and counts the verdicts on each.
class SummaryConsumer final : public AnalysisConsumer {
 public:
  explicit SummaryConsumer(const AnalysisSession& session)
      : wants_all_(!session.has_filter() && !session.options().stream), chosen_(session) {}

  void on_packet(const AnalysedPacket& packet) override {
    chosen_.learn(packet);
    const auto absorbed = verdicts_.find(packet.analysis.absorbed);
    if (absorbed == verdicts_.end()) return;
    verdicts_[packet.analysis.stream] += absorbed->second;
    verdicts_.erase(absorbed);
  }
  void on_verdict(const analysis::Verdict& verdict) override {
    if (!wants_all_) verdicts_[verdict.stream].add(verdict);
  }
  [[nodiscard]] bool wants_packets() const override { return !wants_all_; }
  [[nodiscard]] bool lists(std::uint32_t stream) const override { return wants_all_ || chosen_.is_wanted(stream); }

  /// Removes everything that was not asked for.
  void narrow(AnalysisResult& result) const {
    if (wants_all_) return;
    result.streams_passed_over =
        result.streams_not_asked_for + std::erase_if(result.streams, [&](const analysis::StreamSummary& stream) {
          return !chosen_.is_wanted(stream.stream);
        });
    result.verdicts = {};
    for (const auto& [stream, verdicts] : verdicts_) {
      if (chosen_.is_wanted(stream)) verdicts.add_to(result.verdicts, stream);
    }
  }

 private:
  bool wants_all_;
  ChosenStreams chosen_;
  std::map<std::uint32_t, StreamVerdicts> verdicts_;  ///< by stream
};

/// Compares the capture points of the input, if they show the same packets. Reads the input a second time.
JoinedPoints join_points(AnalysisSession& session, const AnalysisResult& result) {
  const AnalysisOptions& options = session.options();
  if (result.streams_passed_over || !options.after.empty() || !options.carry.empty()) return {};
  if (!result.has_hosts_at_several_points()) return {};
  const auto leave_out = [](std::string why) {
    JoinedPoints nothing;
    nothing.caveats.push_back(
        fmt::format("several capture points saw the same connections, and were not compared: {}", why));
    return nothing;
  };
  if (!std::all_of(session.inputs().begin(), session.inputs().end(),
                   [](const InputFile& file) { return file.is_regular; })) {
    return leave_out("a pipe cannot be read twice; save it to a file first");
  }
  if (result.counts.roce_packets > kMostJoined) {
    return leave_out(fmt::format("{} packets are too many for memory; choose a time with --from and --to",
                                 text::count_text(result.counts.roce_packets)));
  }
  PointPackets packets;
  analysis::TrackerOptions tracker;
  tracker.keep_messages = tracker.keep_answers = false;
  static_cast<void>(session.run_again(packets, tracker));
  JoinedPoints joined = packets.join(result.points);
  for (const std::string& sentence : joined.clocks_apart) report(sentence);
  if (!joined.clocks_apart.empty()) session.fail(ExitCode::failed);
  return joined;
}

/// Returns why the options do not go together with --report; nothing if they do.
std::optional<std::string_view> why_no_report(const AnalysisOptions& options) {
  if (const auto why = page::why_unavailable()) return why;
  if (options.report == "-") return "--report takes the name of a file: standard output has the summary";
  if (!options.filter.empty() || options.stream) return "--report shows everything: leave out -Y and --stream";
  if (!options.after.empty() || !options.carry.empty()) {
    return "--report shows one run: leave out --after and --carry";
  }
  return std::nullopt;
}

ExitCode run_summary(const SummaryOptions& options) {
  AnalysisSession session{options.common};
  const bool has_report = !options.common.report.empty();
  if (!options.common.after.empty() && (!options.common.filter.empty() || options.common.stream)) {
    report("-Y and --stream choose by packets, and of earlier files there are none: leave out --after, or ask streams");
    return ExitCode::usage;
  }
  if (const auto why = has_report ? why_no_report(options.common) : std::nullopt) {
    report(*why);
    return ExitCode::usage;
  }
  if (options.common.engine != nullptr && options.common.stream) {
    report("ranks do not share the packets of one stream: use roce-analyze --stream, or ask streams");
    return ExitCode::usage;
  }
  const bool follows = options.common.follow || !options.common.interface.empty();
  if (follows && (has_report || options.quick || !options.common.filter.empty() || options.common.stream)) {
    report("--follow shows all there is so far, as text: leave out --report, --quick, -Y and --stream");
    return ExitCode::usage;
  }
  if (!session.open()) return session.finish();
  if (follows) return follow_summary(session, options.top);
  std::optional<page::PageFile> file;
  if (has_report) {
    auto created = page::PageFile::create(options.common.report);
    if (!created) {
      report(created.error());
      return ExitCode::failed;
    }
    file = *std::move(created);
  }
  SummaryConsumer consumer{session};
  AnalysisConsumer nobody;
  std::optional<ReportSeries> series;
  std::optional<SeriesThread> thread;
  if (has_report) {
    // With one processor a second thread would only take time from the first.
    const bool is_apart = thread_count(options.common.threads) > 1;
    series.emplace(is_apart ? nobody : consumer, session.link_bits_per_second(),
                   2 * static_cast<std::size_t>(options.common.max_streams));
    if (is_apart) thread.emplace(*series, consumer);
  }
  analysis::TrackerOptions tracker;
  tracker.keep_messages = has_report;
  tracker.keep_answers = false;
  AnalysisConsumer& first = thread   ? static_cast<AnalysisConsumer&>(*thread)
                            : series ? static_cast<AnalysisConsumer&>(*series)
                                     : consumer;
  AnalysisResult result = session.run(first, tracker);
  if (thread) thread->join();
  consumer.narrow(result);
  if (result.streams_passed_over && result.streams.empty()) {
    report("nothing matches");
    return session.finish();
  }
  const Summary summary = summarise(result, join_points(session, result));
  const SummaryView view{result, summary, session.names(), options.top};
  if (options.common.json) {
    append_summary_json(session.output().buffer(), view);
  } else {
    append_summary_text(session.output().buffer(), view, session.layout());
  }
  if (series) {
    series->finish();
    if (const auto ended = file->write(page::make_page(page::Kind::capture, report_json(view, *series))); !ended) {
      report(ended.error());
      session.fail(ExitCode::failed);
    }
  }
  return session.finish();
}

}  // namespace

void add_summary(command_line::Program& program, ExitCode& code, AnalysisEngine* engine) {
  command_line::Command command =
      program.add_subcommand("summary", "What is in these files, and what is wrong (the default)");
  const auto options = std::make_shared<SummaryOptions>();
  options->common.engine = engine;
  add_common_options(command, options->common);
  add_filter_options(command, options->common);
  add_carry_options(command, options->common);
  add_follow_options(command, options->common);
  command.add_option("--top", options->top, "How many streams are listed (10); 0: all").type_name("NUMBER");
  command
      .add_flag("--quick", options->quick,
                "Only the first million frames (of the time window); the summary says that it is of a sample")
      .excludes("--carry");
  command
      .add_option("--report", options->common.report,
                  "Also write a page with plots and tables to this file, for a browser; it needs nothing else")
      .type_name("FILE.html");
  command.footer(std::string{kExamples});
  command.callback([options, &code] {
    options->common.shows_lacks = true;
    if (options->quick) options->common.most_frames = kQuickFrames;
    code = run_summary(*options);
  });
}

}  // namespace roce::analyze
