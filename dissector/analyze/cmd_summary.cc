// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/cmd_summary.h"

#include <memory>

#include "analyze/analysis_session.h"
#include "analyze/summary_format.h"
#include "command_line/program.h"

namespace roce::analyze {

namespace {

constexpr std::string_view kExamples = R"(Examples:
  roce-analyze trace.pcap                          what is in it, and what is wrong
  roce-analyze ring/                               all pieces of a ring buffer as one capture
  roce-analyze --quick huge.pcap                        the same of its first million frames
  roce-analyze --names hosts.txt --top 30 a.pcapng.gz b.pcapng.zst
  roce-analyze summary --json trace.pcap | jq '.verdict, .lost'
  tcpdump -i eth0 -s 256 -c 1000000 -w - udp port 4791 | roce-analyze -

Exit status: 0 all files were read, whatever is wrong in them; 1 wrong command line, 2 a file could not be read (to
its end; what was read is judged), 3 the output could not be written.)";

constexpr std::uint64_t kQuickFrames = 1'000'000;

struct SummaryOptions {
  AnalysisOptions common;
  bool quick = false;
  std::size_t top = 10;
};

/// Everything is in the result.
class SummaryConsumer final : public AnalysisConsumer {
 public:
  [[nodiscard]] bool wants_packets() const override { return false; }
};

ExitCode run_summary(const SummaryOptions& options) {
  AnalysisSession session{options.common};
  if (!session.open()) return session.finish();
  SummaryConsumer consumer;
  analysis::TrackerOptions tracker;
  tracker.keep_messages = false;
  tracker.keep_answers = false;
  const AnalysisResult result = session.run(consumer, tracker);
  const Summary summary = summarise(result);
  const SummaryView view{result, summary, session.names(), options.top};
  if (options.common.json) {
    append_summary_json(session.output().buffer(), view);
  } else {
    append_summary_text(session.output().buffer(), view, session.layout());
  }
  return session.finish();
}

}  // namespace

void add_summary(command_line::Program& program, ExitCode& code) {
  command_line::Command command =
      program.add_subcommand("summary", "What is in these files, and what is wrong (the default)");
  const auto options = std::make_shared<SummaryOptions>();
  add_common_options(command, options->common);
  add_carry_options(command, options->common);
  command.add_option("--top", options->top, "How many streams are listed (10); 0: all").type_name("NUMBER");
  command
      .add_flag("--quick", options->quick,
                "Only the first million frames (of the time window); the summary says that it is of a sample")
      .excludes("--carry");
  command.footer(std::string{kExamples});
  command.callback([options, &code] {
    if (options->quick) options->common.most_frames = kQuickFrames;
    code = run_summary(*options);
  });
}

}  // namespace roce::analyze
