// SPDX-License-Identifier: BSD-2-Clause
#include "conform/commands/fuzz_session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <unordered_set>
#include <utility>

#include "conform/commands/fuzz_captures.h"
#include "conform/fuzz/finding_case.h"
#include "conform/fuzz/merge.h"
#include "conform/fuzz/program_text.h"
#include "conform/language/functions.h"
#include "runtime/stop_signal.h"
#include "text/human_units.h"
#include "text/live_line.h"
#include "text/terminal.h"

namespace roce::conform {

namespace {

using fuzz::FuzzCounts;
using fuzz::Program;
using fuzz::ProgramResult;

// Seconds. A kill may cost ten, whatever a save itself takes.
constexpr double kBetweenSaves = 1;
constexpr double kBetweenReads = 3;
constexpr double kBetweenLines = 0.5;
// A host that is not a RoCE device can be on the same wire.
constexpr std::uint64_t kUsualRateOnLink = 10'000;
constexpr std::string_view kInterrupted = "interrupted";

double seconds_of(const std::string& time) {
  return static_cast<double>(read_time(time).value_or(0)) / 1e9;
}

/// Returns the result of a file operation: what goes wrong with files is the environment's.
template <typename T>
Outcome<T> outcome(fuzz::FileResult<T> result) {
  if (!result) return cannot(std::move(result.error()));
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    return std::move(*result);
  }
}

}  // namespace

FuzzSession::FuzzSession(const FuzzOptions& options, const Device& device)
    : options_(options),
      device_(device.text),
      crew_(device.factories, {.timing = device.suite.timing,
                               .seed = options.seed,
                               .frames_a_second = options.rate.value_or(device.ways ? kUsualRateOnLink : 0),
                               .keeps_device = device.ways != nullptr}),
      recover_(recovery_of(options.recovery, device.ways)) {}

double FuzzSession::seconds() const {
  return before_ + std::chrono::duration<double>(Clock::now() - begin_).count();
}

Outcome<std::vector<Program>> FuzzSession::read_new(fuzz::CorpusFolder& folder) {
  Outcome<std::vector<Program>> programs = outcome(folder.read_new());
  for (const std::string& damage : folder.take_damages()) {
    ++damages_;
    if (isatty(STDERR_FILENO) != 0) text::end_live_line();
    fmt::print(stderr, "roce-conform: {}\n", damage);
  }
  return programs;
}

Outcome<void> FuzzSession::open() {
  // A mistake about these must not cost the state of a fuzzer.
  Outcome<std::vector<Program>> programs = programs_of_captures(options_.captures);
  if (!programs) return tl::unexpected(programs.error());
  if (Outcome<void> opened = open_corpus(); !opened) return opened;
  for (Program& program : *programs) crew_.knowledge().try_first(std::move(program));
  return {};
}

Outcome<void> FuzzSession::open_corpus() {
  if (options_.corpus.empty()) return {};
  Outcome<fuzz::CorpusFolder> folder = outcome(fuzz::CorpusFolder::open(options_.corpus));
  if (!folder) return tl::unexpected(folder.error());
  folder_.emplace(std::move(*folder));
  // A merge is not a run that goes on.
  if (!options_.merge.empty()) return {};
  Outcome<fuzz::StateFile> state = outcome(fuzz::StateFile::open(*folder_, options_.seed, device_));
  if (!state) return tl::unexpected(state.error());
  state_.emplace(std::move(*state));
  if (options_.resume) {
    Outcome<fuzz::StateFile::Loaded> loaded = outcome(state_->load());
    if (!loaded) return tl::unexpected(loaded.error());
    crew_.remember(std::move(loaded->memory));
    before_ = loaded->seconds;
  } else if (Outcome<void> cleared = outcome(state_->clear()); !cleared) {
    return cleared;
  }
  Outcome<std::vector<Program>> programs = read_new(*folder_);
  if (!programs) return tl::unexpected(programs.error());
  for (Program& program : *programs) {
    // A fuzzer that goes on knows already what they show.
    if (options_.resume) {
      crew_.knowledge().go_on_from(std::move(program));
    } else {
      crew_.knowledge().try_first(std::move(program));
    }
  }
  return {};
}

Outcome<void> FuzzSession::write_findings() {
  const std::vector<fuzz::Finding> findings = crew_.knowledge().take_settled();
  if (findings.empty()) return {};
  if (options_.findings.empty()) return save();
  std::error_code error;
  std::filesystem::create_directories(options_.findings, error);
  if (error) return cannot(fmt::format("{}: {}", options_.findings, error.message()));
  for (const fuzz::Finding& finding : findings) {
    const std::string path = fmt::format("{}/{}.yaml", options_.findings, fuzz::case_name(finding.result));
    Outcome<void> written = outcome(fuzz::write_whole(path, fuzz::case_text(finding)));
    if (!written) return written;
  }
  return save();
}

Outcome<void> FuzzSession::save() {
  if (!folder_) return {};
  for (const Program& program : crew_.knowledge().take_kept()) {
    if (Outcome<void> added = outcome(folder_->add(program)); !added) return added;
  }
  return outcome(state_->save(crew_.memory(), seconds()));
}

Outcome<void> FuzzSession::keep_files(double seconds) {
  if (!folder_) return {};
  if (seconds - saved_ >= kBetweenSaves) {
    saved_ = seconds;
    if (Outcome<void> saved = save(); !saved) return saved;
  }
  if (seconds - read_ < kBetweenReads) return {};
  read_ = seconds;
  // Other fuzzers may have added some.
  Outcome<std::vector<Program>> programs = read_new(*folder_);
  if (!programs) return tl::unexpected(programs.error());
  for (Program& program : *programs) crew_.knowledge().try_first(std::move(program));
  return {};
}

Outcome<std::string> FuzzSession::run() {
  begin_ = Clock::now();
  saved_ = read_ = shown_ = before_;
  const FuzzCounts counts = crew_.knowledge().counts();
  programs_before_ = counts.programs;
  frames_before_ = counts.frames;
  growth_ = Growth{before_, counts.signatures};
  if (Outcome<void> saved = save(); !saved) return tl::unexpected(saved.error());
  Outcome<std::string> ended = run_programs();
  if (ended) growth_.add(seconds(), crew_.knowledge().counts().signatures);
  Outcome<void> written = write_findings();
  if (written) written = save();
  if (ended && !written) return tl::unexpected(written.error());
  return ended;
}

Outcome<bool> FuzzSession::look(runtime::StopSignal& signal) {
  const double now = seconds();
  if (signal.take()) is_interrupted_ = true;
  if (Outcome<void> written = write_findings(); !written) return tl::unexpected(written.error());
  if (Outcome<void> kept = keep_files(now); !kept) return tl::unexpected(kept.error());
  growth_.add(now, crew_.knowledge().counts().signatures);
  if (isatty(STDERR_FILENO) != 0 && now - shown_ >= kBetweenLines) {
    shown_ = now;
    show_progress();
  }
  return now < seconds_of(options_.time) && !is_interrupted_;
}

Outcome<std::string> FuzzSession::run_programs() {
  runtime::StopSignal signal;
  Outcome<bool> goes_on = true;
  const auto watch = [&] {
    if (goes_on && *goes_on) goes_on = look(signal);
    return goes_on && *goes_on;
  };
  for (;;) {
    const std::uint64_t programs = crew_.knowledge().counts().programs;
    try {
      if (std::exchange(has_come_back_, false)) try_suspects();
      TargetResult<void> done;
      if (watch()) done = crew_.run(options_.programs, watch);
      if (!goes_on) return tl::unexpected(goes_on.error());
      if (!done) return cannot("the device refuses what every program needs: " + done.error());
      return is_interrupted_ ? std::string{kInterrupted} : std::string{};
    } catch (const DeviceGone& gone) {
      if (crew_.knowledge().counts().programs != programs) deaths_in_row_ = 0;
      if (std::string reason = recover(gone); !reason.empty()) return reason;
    }
  }
}

void FuzzSession::try_suspects() {
  while (std::optional<fuzz::Knowledge::Suspect> suspect = crew_.knowledge().take_suspect()) {
    crew_.first().try_again(std::move(*suspect));
    // Each is tried once, so there is an end of these deaths.
    deaths_in_row_ = 0;
  }
}

std::string FuzzSession::recover(const DeviceGone& gone) {
  std::string what = fmt::format("the device stopped answering: {} ({})", gone.what(), to_string(gone.damage()));
  if (!recover_) return what;
  // The second death may be that of a program that is tried again.
  constexpr unsigned most_in_row = 2;
  if (++deaths_in_row_ > most_in_row) return what + ", again and again";
  const std::string program = fmt::format("seed {}, program {}", options_.seed, crew_.knowledge().counts().programs);
  crew_.forget_devices();
  const Death death{.damage = gone.damage(), .what = gone.what(), .instances = {program}};
  if (const TargetResult<void> back = recover_(death); !back)
    return fmt::format("{}, and was not recovered: {}", what, back.error());
  ++recoveries_;
  has_come_back_ = true;
  return {};
}

void FuzzSession::show_progress() {
  const FuzzCounts counts = crew_.knowledge().counts();
  const double time = std::max(seconds() - before_, kBetweenLines);
  std::string line = fmt::format(
      "{:.0f} s: {} findings, {} of {} states, {} signatures, {} in the last minute, {:.0f} programs/s, {:.0f} "
      "frames/s",
      seconds(), counts.findings, counts.states, fuzz::kFuzzStates, counts.signatures, growth_.in_last_minute(),
      static_cast<double>(counts.programs - programs_before_) / time,
      static_cast<double>(counts.frames - frames_before_) / time);
  if (const std::string plateau = plateau_text(); !plateau.empty()) line += ", " + plateau;
  text::TextBuffer shown;
  const std::size_t width = text::terminal_width(STDERR_FILENO);
  text::append_clipped(shown, line, width == 0 ? line.size() : width - 1);
  text::show_live_line({shown.data(), shown.size()});
}

std::string FuzzSession::summary() const {
  const FuzzCounts counts = crew_.knowledge().counts();
  std::string text =
      fmt::format("{:.0f} s: {} programs, {:.0f} frames/s, {} of {} states, {} signatures, {}", seconds(),
                  counts.programs, static_cast<double>(counts.frames) / std::max(seconds(), 1e-3), counts.states,
                  fuzz::kFuzzStates, counts.signatures, text::counted(counts.findings, "finding", "findings"));
  if (recoveries_ != 0)
    text += fmt::format(", the device was brought back {}", text::counted(recoveries_, "time", "times"));
  if (const std::size_t left_out = crew_.first().gate().left_out().size(); left_out != 0)
    text +=
        fmt::format(", {} that it died of are left out", text::counted(left_out, "kind of action", "kinds of actions"));
  return text;
}

FuzzSummary FuzzSession::full_summary(const std::string& ended) const {
  const FuzzCounts counts = crew_.knowledge().counts();
  FuzzSummary summary{.program = ROCE_VERSION,
                      .device = device_,
                      .started_ns = std::chrono::nanoseconds{started_.time_since_epoch()}.count(),
                      .seed = options_.seed,
                      .seconds = seconds(),
                      .quiet_seconds = std::max(seconds() - growth_.last(), 0.0),
                      .ended = ended,
                      .programs = counts.programs,
                      .frames = counts.frames,
                      .signatures = counts.signatures,
                      .corpus = counts.corpus,
                      .states = counts.states,
                      .possible_states = fuzz::kFuzzStates,
                      .damaged_files = damages_,
                      .recoveries = recoveries_,
                      .left_out = crew_.first().gate().left_out().size()};
  for (const fuzz::Oracle oracle : fuzz::kOracles) summary.oracles.emplace_back(to_string(oracle));
  summary.findings.reserve(findings().size());
  for (const fuzz::Finding& finding : findings()) {
    const ProgramResult& result = finding.result;
    summary.findings.push_back({.name = fuzz::case_name(result),
                                .oracle = std::string{to_string(result.alarm->oracle)},
                                .what = result.alarm->what,
                                .place = result.alarm->place,
                                .times = finding.times,
                                .shown = finding.shown,
                                .repeats = finding.repeats,
                                .actions = result.program.actions.size()});
  }
  return summary;
}

std::string FuzzSession::plateau_text() const {
  constexpr double minute = 60;
  const double quiet = seconds() - growth_.last();
  if (quiet < seconds_of(options_.plateau)) return {};
  if (quiet < minute) return fmt::format("plateau: no new signature for {:.0f} s", quiet);
  return fmt::format("plateau: no new signature for {:.0f} min", quiet / minute);
}

Outcome<std::string> FuzzSession::merge() {
  std::vector<Program> programs;
  std::unordered_set<std::string> texts;
  std::vector<Program> own;
  std::vector<std::string> paths{options_.corpus};
  std::ranges::copy(options_.merge, std::back_inserter(paths));
  for (const std::string& path : paths) {
    if (!std::filesystem::is_directory(path)) return cannot(fmt::format("{}: is no folder", path));
    Outcome<fuzz::CorpusFolder> folder = outcome(fuzz::CorpusFolder::open(path));
    if (!folder) return tl::unexpected(folder.error());
    Outcome<std::vector<Program>> read = read_new(path == options_.corpus ? *folder_ : *folder);
    if (!read) return tl::unexpected(read.error());
    if (path == options_.corpus) own = *read;
    std::ranges::copy_if(*read, std::back_inserter(programs),
                         [&](const Program& one) { return texts.insert(fuzz::program_text(one)).second; });
  }
  begin_ = Clock::now();
  runtime::StopSignal signal;
  std::vector<fuzz::Measured> measured;
  measured.reserve(programs.size());
  try {
    for (const Program& program : programs) {
      if (signal.take()) return std::string{"interrupted: the corpus is as it was"};
      TargetResult<ProgramResult> result = crew_.first().run(program);
      if (!result) return cannot(std::move(result.error()));
      fuzz::Measured one{.signatures = {}, .actions = program.actions.size()};
      std::ranges::transform(result->signatures, std::back_inserter(one.signatures), &fuzz::Signature::value);
      measured.push_back(std::move(one));
    }
  } catch (const DeviceGone& gone) {
    return failed(fmt::format("the device stopped answering, and the corpus is as it was: {}", gone.what()));
  }
  const std::vector<std::size_t> chosen = fuzz::choose_fewest(measured);
  texts.clear();
  std::unordered_set<std::uint64_t> signatures;
  // Nothing goes before all is there.
  for (const std::size_t index : chosen) {
    if (Outcome<void> added = outcome(folder_->add(programs[index])); !added) return tl::unexpected(added.error());
    texts.insert(fuzz::program_text(programs[index]));
    signatures.insert(measured[index].signatures.begin(), measured[index].signatures.end());
  }
  for (const Program& program : own) {
    if (texts.contains(fuzz::program_text(program))) continue;
    if (Outcome<void> gone = outcome(folder_->remove(program)); !gone) return tl::unexpected(gone.error());
  }
  return fmt::format("{}: {} of {} programs have all {} signatures", options_.corpus, chosen.size(), programs.size(),
                     signatures.size());
}

}  // namespace roce::conform
