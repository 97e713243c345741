// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/session/analysis_session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "analyze/input/report.h"
#include "analyze/names/load_names.h"
#include "analyze/run/summary_lacks.h"
#include "command_line/command.h"
#include "files/file_use.h"
#include "text/human_units.h"

namespace roce::analyze {

namespace {

constexpr std::uint64_t kMostStreams = 1'000'000'000;

}  // namespace

void add_common_options(command_line::Command& command, AnalysisOptions& options) {
  command.add_option("FILE", options.inputs,
                     "Capture files (pcap, pcapng, .gz, .zst) or directories of them; - is standard input");
  command
      .add_option("--point", options.points,
                  "Declare files to be one capture point: NAME=FILE[,FILE...]; may be given several times")
      .expected(1)
      .take_all()
      .allow_extra_args(false)
      .type_name("NAME=FILES");
  command.add_option("--from", options.from, "Not before: seconds since the first packet or 1970, or RFC 3339")
      .type_name("TIME");
  command.add_option("--to", options.to, "Not after").type_name("TIME");
  command
      .add_option("--threads", options.threads,
                  "At most so many, where the work can be shared (0, the default: one a processor); the result is the "
                  "same")
      .type_name("NUMBER");
  command
      .add_option("--link-speed", options.link_speed,
                  "Of the captured links (100G, 2.5G): what PFC and PAUSE ask for is in bit times")
      .type_name("RATE");
  command
      .add_option("--cnp-interval", options.cnp_interval,
                  "The least time between two CNPs for one QP (50us): what comes faster breaks a rule")
      .type_name("TIME");
  command
      .add_option("--max-streams", options.max_streams,
                  "Follow at most so many streams at a time, and list as many; more take more memory")
      .range(std::uint64_t{1}, kMostStreams)
      .capture_default_str()
      .type_name("NUMBER");
  add_output_options(command, options);
}

void add_output_options(command_line::Command& command, AnalysisOptions& options) {
  command.add_flag("--json", options.json, "For programs: JSON");
  command
      .add_option("--names", options.names,
                  "Names for hosts and QPs: lines ADDRESS[/PREFIX] NAME and ADDRESS qp NUMBER NAME, an NCCL log, or "
                  "ADDRESS= and the output of rdma -j resource show qp; may be given several times")
      .expected(1)
      .take_all()
      .allow_extra_args(false)
      .type_name("[ADDRESS=]FILE");
  command
      .add_choice("--color,--colour", options.colour,
                  {{"auto", text::ColourWhen::automatic},
                   {"always", text::ColourWhen::always},
                   {"never", text::ColourWhen::never}},
                  "auto (the default: on a terminal), always or never")
      .type_name("WHEN");
}

void add_carry_options(command_line::Command& command, AnalysisOptions& options) {
  command
      .add_option(
          "--after", options.after,
          "The files follow on those of an earlier run, whose --carry wrote this file: what began there goes on")
      .type_name("STATE");
  command
      .add_option("--carry", options.carry,
                  "More files will follow: write to this file what the run with them needs as its --after, and do not "
                  "judge yet what is still open")
      .type_name("STATE");
}

void add_follow_options(command_line::Command& command, AnalysisOptions& options) {
  command.add_flag("--follow", options.follow,
                   "Go on reading as FILE grows, or as files come into it if it is a directory, until Ctrl-C");
  add_interface_option(command, options);
}

void add_interface_option(command_line::Command& command, AnalysisOptions& options) {
  command.add_option("-i,--interface", options.interface, "Capture on this interface, instead of FILE, and follow it")
      .type_name("NAME");
}

void add_list_options(command_line::Command& command, AnalysisOptions& options) {
  command.add_flag("--csv", options.csv, "For programs: CSV").excludes("--json");
  add_filter_options(command, options);
}

void add_filter_options(command_line::Command& command, AnalysisOptions& options) {
  command
      .add_option("-Y,--filter", options.filter,
                  "Only what concerns packets that pass this expression; fields are those of decode --json, and "
                  "roce.analysis.*")
      .type_name("EXPRESSION");
  command.add_option("--stream", options.stream, "Only this stream").type_name("NUMBER");
}

/// Records which packets pass the filter, and passes everything on.
class ChoosingConsumer final : public AnalysisConsumer {
 public:
  ChoosingConsumer(AnalysisSession& session, const LaterFacts* facts, AnalysisConsumer& next)
      : session_(session), facts_(facts), next_(next) {}

  void go_on_from(const CarriedState& state) override { next_.go_on_from(state); }
  void on_packet(const AnalysedPacket& packet) override {
    if (session_.filter_.matches(packet, facts_)) session_.chosen_.insert(packet.observation.id);
    next_.on_packet(packet);
  }
  void on_verdict(const analysis::Verdict& verdict) override { next_.on_verdict(verdict); }
  void on_message(const analysis::Message& message) override { next_.on_message(message); }
  void on_answer(const analysis::Answer& answer) override { next_.on_answer(answer); }
  void on_tick(RunSoFar& run) override { next_.on_tick(run); }
  [[nodiscard]] bool lists(std::uint32_t stream) const override { return next_.lists(stream); }
  [[nodiscard]] bool is_over() const override { return next_.is_over(); }

 private:
  AnalysisSession& session_;
  const LaterFacts* facts_;
  AnalysisConsumer& next_;
};

AnalysisSession::AnalysisSession(const AnalysisOptions& options)
    : options_(options), output_(STDOUT_FILENO, isatty(STDOUT_FILENO) != 0) {}

void AnalysisSession::prepare_output() {
  // Without the signal, a write reports that the reader has gone, which ends the run quietly.
  std::signal(SIGPIPE, SIG_IGN);
  // mpirun gives a rank a terminal of its own, wherever it passes on what comes there.
  const bool is_relayed = options_.engine != nullptr;
  layout_.palette = text::choose_palette(
      is_relayed && options_.colour == text::ColourWhen::automatic ? text::ColourWhen::never : options_.colour);
  layout_.charset = text::locale_charset();
  layout_.width = is_relayed ? 0 : text::terminal_width(STDOUT_FILENO);
}

bool AnalysisSession::open() {
  prepare_output();
  const auto refuse = [&](std::string_view why) {
    report(why);
    code_ = ExitCode::usage;
    return false;
  };
  const bool follows = options_.follow || !options_.interface.empty();
  if (options_.inputs.empty() && options_.points.empty() && options_.interface.empty()) {
    return refuse("which file? roce-analyze [COMMAND] FILE... (- is standard input; --help shows examples)");
  }
  if (const auto why = options_.engine != nullptr ? why_not_shared() : std::nullopt) return refuse(*why);
  auto window = TimeWindow::make(options_.from, options_.to);
  if (!window) return refuse(window.error());
  window_ = *window;
  if (!options_.link_speed.empty()) {
    const auto speed = text::parse_bit_rate(options_.link_speed);
    if (!speed) {
      return refuse(fmt::format("--link-speed takes bits a second such as 100G, 2.5Gbit or 400Gbit/s, not '{}'",
                                options_.link_speed));
    }
    pause_.link_bits_per_second = *speed;
  }
  if (!options_.cnp_interval.empty()) {
    const auto interval = text::parse_duration(options_.cnp_interval);
    if (!interval || *interval <= 0) {
      return refuse(fmt::format("--cnp-interval takes a time such as 50us, not '{}'", options_.cnp_interval));
    }
    cnp_interval_ = Duration{*interval};
  }
  auto filter = AnalysisFilter::compile(options_.filter);
  if (!filter) return refuse(filter.error());
  filter_ = *std::move(filter);
  for (const std::string& text : options_.names) {
    if (const auto loaded = load_names(NamesArgument::of(text), names_); !loaded) {
      report(loaded.error());
      code_ = ExitCode::failed;
      return false;
    }
  }
  if (!options_.after.empty()) {
    auto after = CarriedState::load(options_.after);
    if (!after) {
      report(after.error());
      code_ = ExitCode::failed;
      return false;
    }
    after_ = *std::move(after);
  }
  if (follows) return open_followed();
  std::vector<NamedPoint> points;
  for (const std::string& text : options_.points) {
    auto point = parse_point(text);
    if (!point) return refuse(point.error());
    const auto twice =
        std::find_if(points.begin(), points.end(), [&](const NamedPoint& each) { return each.name == point->name; });
    if (twice != points.end()) {
      return refuse(fmt::format("--point: '{}' is given twice; all files of a point follow its name: {}={},{}",
                                point->name, point->name, fmt::join(twice->arguments, ","),
                                fmt::join(point->arguments, ",")));
    }
    points.push_back(*std::move(point));
  }
  inputs_ = expand_inputs(options_.inputs, {}, points);
  for (const std::string& warning : inputs_.warnings) report(fmt::format("warning: {}", warning));
  for (const std::string& error : inputs_.errors) report(error);
  if (!inputs_.errors.empty()) code_ = ExitCode::failed;
  std::vector<files::FileUse> read;
  read.reserve(inputs_.files.size() + options_.names.size());
  for (const std::string& text : options_.names) read.push_back({"--names", NamesArgument::of(text).path});
  for (const InputFile& file : inputs_.files) read.push_back({"FILE", file.path});
  // --after and --carry may name the same file: it is replaced only at the end.
  const std::array written{files::FileUse{"--carry", options_.carry}, files::FileUse{"--report", options_.report}};
  if (const auto conflict = files::find_conflict(read, written)) return refuse(*conflict);
  if (filter_.needs_later_facts()) {
    for (const InputFile& file : inputs_.files) {
      if (file.is_regular) continue;
      return refuse(fmt::format(
          "-Y asks for what is known only at the end, so that the input has to be read twice: '{}' cannot be; save it "
          "to a file first",
          file.path == "-" ? "standard input" : file.path));
    }
  }
  if (options_.engine != nullptr) {
    for (const InputFile& file : inputs_.files) {
      if (file.is_regular) continue;
      return refuse(fmt::format("each rank reads all files, and '{}' can be read once: save it to a file first",
                                file.path == "-" ? "standard input" : file.path));
    }
  }
  if (inputs_.files.empty() && inputs_.errors.empty()) {
    report("there is no capture file in what was given");
    code_ = ExitCode::failed;
  }
  return !inputs_.files.empty();
}

std::optional<std::string_view> AnalysisSession::why_not_shared() const {
  if (!options_.filter.empty()) return "ranks do not share the packets that -Y asks for: use roce-analyze -Y";
  if (options_.follow || !options_.interface.empty())
    return "what is followed has one reader: use roce-analyze --follow";
  if (!options_.after.empty() || !options_.carry.empty()) {
    return "ranks keep no state for the next run: use roce-analyze --carry, or give all files at once";
  }
  if (!options_.report.empty()) return "the page needs every message in one process: use roce-analyze --report";
  if (options_.most_frames != 0) return "a sample is too small to be shared: use roce-analyze --quick";
  return std::nullopt;
}

bool AnalysisSession::open_followed() {
  const auto refuse = [&](std::string_view why) {
    report(why);
    code_ = ExitCode::usage;
    return false;
  };
  if (!options_.after.empty() || !options_.carry.empty()) {
    return refuse("what is followed goes on by itself: leave out --after and --carry");
  }
  if (!options_.points.empty() || options_.inputs.size() + (options_.interface.empty() ? 0 : 1) != 1) {
    return refuse("what is followed is one file, one directory, - or one --interface");
  }
  if (filter_.needs_later_facts()) {
    return refuse("-Y asks for what is known only at the end, and what is followed has none; leave out -Y or --follow");
  }
  Following::Source source{Following::Source::Kind::interface, options_.interface};
  if (options_.interface.empty()) {
    source = {Following::Source::Kind::file, options_.inputs.front()};
    std::error_code error;
    if (source.name != "-" && !std::filesystem::exists(source.name, error)) {
      report(fmt::format("cannot read '{}': {}", source.name, std::strerror(error ? error.value() : ENOENT)));
      code_ = ExitCode::failed;
      return false;
    }
    if (source.name != "-" && std::filesystem::is_directory(source.name, error)) {
      source.kind = Following::Source::Kind::folder;
    }
  }
  following_.emplace(std::move(source));
  return true;
}

AnalysisRunOptions AnalysisSession::run_options(const analysis::TrackerOptions& tracker) {
  AnalysisRunOptions options;
  options.window = window_;
  options.tracker = tracker;
  options.tracker.cnp_interval = cnp_interval_;
  options.tracker.limits.streams = static_cast<std::size_t>(options_.max_streams);
  options.most_frames = options_.most_frames;
  options.threads = options_.threads;
  options.pause = pause_;
  options.progress = isatty(STDERR_FILENO) != 0 && !following_;
  options.after = after_ ? &*after_ : nullptr;
  options.follow = following_ ? &*following_ : nullptr;
  return options;
}

AnalysisResult AnalysisSession::run_again(AnalysisConsumer& consumer, const analysis::TrackerOptions& tracker) {
  AnalysisRunOptions options = run_options(tracker);
  options.quiet = true;
  return run_analysis(inputs_.files, options, consumer);
}

AnalysisResult AnalysisSession::run(AnalysisConsumer& consumer, const analysis::TrackerOptions& tracker) {
  AnalysisRunOptions options = run_options(tracker);
  LaterFacts facts;
  if (filter_.needs_later_facts()) {
    options.tracker.keep_answers = true;
    static_cast<void>(run_analysis(inputs_.files, options, facts));
    options.tracker.keep_answers = tracker.keep_answers;
    options.quiet = true;
  }
  if (!options_.carry.empty()) options.carry = &carried_.emplace();
  AnalysisResult result;
  if (filter_.passes_everything()) {
    result = options_.engine != nullptr ? options_.engine->run(inputs_.files, options, consumer)
                                        : run_analysis(inputs_.files, options, consumer);
  } else {
    ChoosingConsumer choosing{*this, filter_.needs_later_facts() ? &facts : nullptr, consumer};
    result = run_analysis(inputs_.files, options, choosing);
  }
  if (!result.is_complete() || result.has_contradictory_times()) code_ = ExitCode::failed;
  if (options_.stream && *options_.stream >= result.streams_begun) {
    report(fmt::format("there is no stream {}: there are {}, numbered from 0; roce-analyze streams lists them",
                       *options_.stream, result.streams_begun));
    if (code_ == ExitCode::ok) code_ = ExitCode::usage;
  }
  if (options_.mixes_points && result.has_hosts_at_several_points()) {
    report(
        "warning: several capture points saw packets between the same hosts, and each is counted at each of them; "
        "give one point's files, or say --point NAME=FILES if they are pieces of one (summary compares points)");
  }
  if (!options_.shows_lacks) {
    for (const std::string& lack : memory_lacks(result)) report(fmt::format("warning: {}", lack));
  }
  return result;
}

ExitCode AnalysisSession::finish() {
  output_.flush();
  if (output_.error()) {
    report(*output_.error());
    return ExitCode::failed;
  }
  if (!carried_) return code_;
  // A reader that stopped early has not seen everything that the next run would take as already reported.
  if (output_.is_over()) {
    report(fmt::format("{} was not written: the output was not read to its end", options_.carry));
    return ExitCode::failed;
  }
  if (const auto saved = carried_->save(options_.carry); !saved) {
    report(saved.error());
    return ExitCode::failed;
  }
  return code_;
}

RowWriter::RowWriter(AnalysisSession& session, std::vector<text::TableColumn> columns, std::size_t for_programs,
                     std::string_view if_filled)
    : session_(session), columns_(std::move(columns)) {
  if (session.options().json || session.options().csv) return;
  columns_.resize(columns_.size() - for_programs);
  const auto found = std::find_if(columns_.begin(), columns_.end(), [&](const text::TableColumn& column) {
    return !if_filled.empty() && column.heading == if_filled;
  });
  if (found != columns_.end()) if_filled_ = static_cast<std::size_t>(found - columns_.begin());
}

void RowWriter::add(std::vector<text::TableCell> cells) {
  if (is_dropped_) cells.erase(cells.begin() + static_cast<std::ptrdiff_t>(*if_filled_));
  cells.resize(std::min(cells.size(), columns_.size()));
  rows_.push_back(std::move(cells));
  if (rows_.size() == kAligned) write();
}

void RowWriter::show() {
  if (!rows_.empty()) write();
  session_.output().flush();
}

void RowWriter::finish() {
  const AnalysisOptions& options = session_.options();
  if (rows_.empty() && !has_headings_ && !options.json && !options.csv) report("nothing matches");
  if (!rows_.empty() || !has_headings_) write();
  session_.output().flush();
}

void RowWriter::drop_column_if_empty() {
  if (!if_filled_ || has_headings_ ||
      std::any_of(rows_.begin(), rows_.end(), [&](const auto& row) { return !row[*if_filled_].text.empty(); })) {
    return;
  }
  is_dropped_ = true;
  const auto at = static_cast<std::ptrdiff_t>(*if_filled_);
  columns_.erase(columns_.begin() + at);
  for (auto& row : rows_) row.erase(row.begin() + at);
}

void RowWriter::write() {
  drop_column_if_empty();
  text::TextTable table{columns_};
  for (auto& row : rows_) table.add_row(std::move(row));
  text::TextBuffer& out = session_.output().buffer();
  if (session_.options().json) {
    table.append_ndjson(out);
  } else if (session_.options().csv) {
    table.append_csv(out, !has_headings_);
  } else if (!rows_.empty()) {
    text::TextTable::Layout layout = session_.layout();
    layout.with_headings = !has_headings_;
    table.append_text(out, layout);
  }
  has_headings_ = true;
  rows_.clear();
  session_.output().commit();
}

}  // namespace roce::analyze
