// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "command_line/outcome.h"
#include "conform/commands/device.h"
#include "conform/commands/growth.h"
#include "conform/commands/recovery.h"
#include "conform/fuzz/corpus_folder.h"
#include "conform/fuzz/crew.h"
#include "conform/fuzz/state_file.h"
#include "conform/report/fuzz_json.h"
#include "runtime/stop_signal.h"

namespace roce::conform {

struct FuzzOptions {
  DeviceChoice device{};
  std::string target;  ///< on a wire: the address of the device
  std::uint64_t seed = 1;
  std::string time = "60s";
  std::uint64_t programs = 0;         ///< 0: no limit
  std::string findings;               ///< a folder
  std::string json;                   ///< the file of a summary
  std::string corpus;                 ///< a folder
  std::vector<std::string> captures;  ///< files
  bool resume = false;
  std::vector<std::string> merge;     ///< folders
  std::optional<std::uint64_t> rate;  ///< frames a second; 0: no limit
  std::string plateau = "600s";
  RecoveryChoice recovery;
};

/// One run of the fuzzer: when it ends, and the files in which it keeps what it finds.
class FuzzSession {
 public:
  /// `options` and `device` have to outlive the session.
  FuzzSession(const FuzzOptions& options, const Device& device);

  /// Opens the corpus, and goes on from it; reads the captures, whose programs come next. Failures: the corpus cannot
  /// be used (exit code 2), and those of `programs_of_captures`.
  [[nodiscard]] Outcome<void> open();
  /// Runs programs until the time or their number is over, or somebody interrupts. Returns the reason why it ended
  /// before that; empty: it did not. Failures, with exit code 2: a file cannot be written, the device cannot be used.
  [[nodiscard]] Outcome<std::string> run();
  /// Makes the corpus the fewest programs, of its own and of those of the folders to merge, that show as much. Returns
  /// what became of them. Failures, with exit code 2: as those of `open` and `run`; the corpus has all then.
  [[nodiscard]] Outcome<std::string> merge();

  /// Returns all findings; to be called while `run` is not under way.
  [[nodiscard]] const std::vector<fuzz::Finding>& findings() const { return crew_.knowledge().findings(); }
  /// Returns how long programs ran, those of a resumed run included, in seconds.
  [[nodiscard]] double seconds() const;
  /// Returns a line about the work so far.
  [[nodiscard]] std::string summary() const;
  /// Returns all about the work so far; `ended` is what `run` returned.
  [[nodiscard]] FuzzSummary full_summary(const std::string& ended) const;
  /// Returns a sentence about a plateau; empty if there is none.
  [[nodiscard]] std::string plateau_text() const;
  /// True if files of the corpus were damaged.
  [[nodiscard]] bool has_damages() const { return damages_ != 0; }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] Outcome<void> open_corpus();
  [[nodiscard]] Outcome<std::vector<fuzz::Program>> read_new(fuzz::CorpusFolder& folder);
  [[nodiscard]] Outcome<std::string> run_programs();
  /// Finds out which programs stop a device again that was brought back. Throws DeviceGone.
  void try_suspects();
  /// Writes, reads and shows what it is time for. Returns false if the run is to end.
  [[nodiscard]] Outcome<bool> look(runtime::StopSignal& signal);
  /// Brings a device back that stopped answering. Returns the reason why it cannot be; empty if it is back.
  [[nodiscard]] std::string recover(const DeviceGone& gone);
  /// Writes and reads files that it is time for.
  [[nodiscard]] Outcome<void> keep_files(double seconds);
  [[nodiscard]] Outcome<void> save();
  /// Writes what was found since the last call, and all that is known then.
  [[nodiscard]] Outcome<void> write_findings();
  void show_progress();

  const FuzzOptions& options_;
  std::string device_;
  fuzz::Crew crew_;
  std::optional<fuzz::CorpusFolder> folder_;
  std::optional<fuzz::StateFile> state_;
  Clock::time_point begin_ = Clock::now();
  std::chrono::system_clock::time_point started_ = std::chrono::system_clock::now();
  double before_ = 0;  ///< seconds that a resumed fuzzer had run
  double saved_ = 0;
  double read_ = 0;
  double shown_ = 0;
  std::uint64_t programs_before_ = 0;
  std::uint64_t frames_before_ = 0;
  std::size_t damages_ = 0;
  Recovery recover_{};  ///< empty: a device that died ends the run
  std::uint64_t recoveries_ = 0;
  unsigned deaths_in_row_ = 0;
  bool has_come_back_ = false;
  bool is_interrupted_ = false;
  Growth growth_;
};

}  // namespace roce::conform
