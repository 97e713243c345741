// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/input/following.h"
#include "analyze/names/names.h"
#include "analyze/run/analysis_run.h"
#include "analyze/run/carried_state.h"
#include "analyze/session/analysis_filter.h"
#include "command_line/outcome.h"
#include "text/output.h"
#include "text/text_table.h"

namespace roce::command_line {
class Command;
}

namespace roce::analyze {

/// Does the work of `run_analysis` in another way.
class AnalysisEngine {
 public:
  AnalysisEngine() = default;
  AnalysisEngine(const AnalysisEngine&) = delete;
  AnalysisEngine& operator=(const AnalysisEngine&) = delete;
  virtual ~AnalysisEngine() = default;
  /// Passes to `consumer` what it knows before its findings, and its verdicts, in the order of one process.
  [[nodiscard]] virtual AnalysisResult run(std::span<const InputFile> inputs, const AnalysisRunOptions& options,
                                           AnalysisConsumer& consumer) = 0;
};

/// The options that the commands for analysing captures have in common.
struct AnalysisOptions {
  std::vector<std::string> inputs;
  std::vector<std::string> points;
  std::string from;
  std::string to;
  std::vector<std::string> names;
  std::string filter;
  std::string link_speed;
  std::string cnp_interval;
  std::string after;
  std::string carry;
  std::string interface;  ///< captured live; empty: the inputs are files
  std::string report;     ///< the HTML file of `summary --report`
  std::optional<std::uint32_t> stream;
  std::uint64_t max_streams = analysis::Limits{}.streams;
  bool shows_lacks = false;       ///< the command's own output reports what there was no room for
  bool mixes_points = false;      ///< the command's output does not tell apart what different capture points saw
  std::uint64_t most_frames = 0;  ///< analyse at most this many frames; 0: all
  unsigned threads = 0;
  AnalysisEngine* engine = nullptr;  ///< does the work; null: this process alone. It reads the same files again
  bool follow = false;               ///< the input goes on while it is read
  bool json = false;
  bool csv = false;
  text::ColourWhen colour = text::ColourWhen::automatic;
};

/// Adds FILE, --point, --from, --to, --threads, --link-speed, --cnp-interval, --max-streams and those of
/// `add_output_options`. `options` must outlive the command.
void add_common_options(command_line::Command& command, AnalysisOptions& options);
/// Adds --names, --colour and --json, for commands that take their files in another way.
void add_output_options(command_line::Command& command, AnalysisOptions& options);
/// Adds --after and --carry.
void add_carry_options(command_line::Command& command, AnalysisOptions& options);
/// Adds --follow and --interface.
void add_follow_options(command_line::Command& command, AnalysisOptions& options);
/// Adds --interface.
void add_interface_option(command_line::Command& command, AnalysisOptions& options);
/// Adds -Y and --stream.
void add_filter_options(command_line::Command& command, AnalysisOptions& options);
/// Adds --csv, -Y and --stream.
void add_list_options(command_line::Command& command, AnalysisOptions& options);

/// One run of a command that analyses captures: its inputs and its output. Problems with them go to standard error.
class AnalysisSession {
 public:
  explicit AnalysisSession(const AnalysisOptions& options);

  /// Reads the options. Returns false if there is nothing to do; `finish` then returns the reason as an exit code.
  [[nodiscard]] bool open();
  /// Prepares the output as `open` does, for commands without inputs.
  void prepare_output();
  /// Analyses all inputs; reads them twice if the filter uses facts that become known later. `is_chosen` is valid for a
  /// packet from the moment that the consumer gets it.
  [[nodiscard]] AnalysisResult run(AnalysisConsumer& consumer, const analysis::TrackerOptions& tracker = {});
  /// Reads all inputs once more, without a filter, and without repeating what standard error has told about them.
  AnalysisResult run_again(AnalysisConsumer& consumer, const analysis::TrackerOptions& tracker);
  /// Writes the rest of the output and, for `--carry`, the state. Returns the exit code of the program.
  [[nodiscard]] ExitCode finish();

  /// True if the packet passed the filter. Valid only for packets that were seen.
  [[nodiscard]] bool is_chosen(analysis::PacketId id) const {
    return filter_.passes_everything() || chosen_.contains(id);
  }
  [[nodiscard]] bool is_wanted(std::uint32_t stream) const { return !options_.stream || *options_.stream == stream; }
  /// Returns what is followed; null if the inputs are files. Valid after `open`.
  [[nodiscard]] Following* following() { return following_ ? &*following_ : nullptr; }
  [[nodiscard]] bool has_filter() const { return !filter_.passes_everything(); }

  [[nodiscard]] const AnalysisOptions& options() const { return options_; }
  [[nodiscard]] const std::vector<InputFile>& inputs() const { return inputs_.files; }
  [[nodiscard]] const Names& names() const { return names_; }
  [[nodiscard]] text::Output& output() { return output_; }
  [[nodiscard]] const text::TextTable::Layout& layout() const { return layout_; }
  [[nodiscard]] std::uint64_t link_bits_per_second() const { return pause_.link_bits_per_second; }  ///< 0: unknown
  [[nodiscard]] const TimeWindow& window() const { return window_; }
  void fail(ExitCode code) { code_ = code; }

 private:
  friend class ChoosingConsumer;

  [[nodiscard]] bool open_followed();
  [[nodiscard]] std::optional<std::string_view> why_not_shared() const;
  [[nodiscard]] AnalysisRunOptions run_options(const analysis::TrackerOptions& tracker);

  const AnalysisOptions& options_;
  InputFiles inputs_;
  std::optional<Following> following_;
  TimeWindow window_;
  analysis::PauseOptions pause_;
  Duration cnp_interval_{};
  Names names_;
  AnalysisFilter filter_;
  PacketSet chosen_;
  std::optional<CarriedState> after_;
  std::optional<CarriedState> carried_;
  text::TextTable::Layout layout_;
  text::Output output_;
  ExitCode code_ = ExitCode::ok;
};

/// Writes rows as they come, in the form that the options select: a table, CSV or NDJSON.
class RowWriter {
 public:
  /// `for_programs`: the number of columns, counted from the last, that the table for people leaves out.
  /// That table also leaves out the column `if_filled` if it is empty in all rows that are held back for alignment.
  RowWriter(AnalysisSession& session, std::vector<text::TableColumn> columns, std::size_t for_programs = 0,
            std::string_view if_filled = {});

  void add(std::vector<text::TableCell> cells);
  /// Writes the rows so far, without waiting for more to align them with.
  void show();
  /// Writes the rows that were held back for alignment.
  void finish();

 private:
  static constexpr std::size_t kAligned = 2000;

  void write();
  void drop_column_if_empty();

  AnalysisSession& session_;
  std::vector<text::TableColumn> columns_;
  std::vector<std::vector<text::TableCell>> rows_;
  std::optional<std::size_t> if_filled_;  ///< index of the column that may be left out
  bool is_dropped_ = false;
  bool has_headings_ = false;
};

}  // namespace roce::analyze
