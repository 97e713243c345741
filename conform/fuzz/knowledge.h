// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <unordered_set>
#include <vector>

#include "conform/fuzz/draw.h"
#include "conform/fuzz/finding.h"
#include "conform/fuzz/manager_model.h"
#include "conform/fuzz/program_run.h"
#include "conform/fuzz/requester_model.h"

namespace roce::conform::fuzz {

/// States of a QP that are told apart, for both halves, and of a connection.
inline constexpr unsigned kFuzzStates = DeviceModel::kStates + RequesterModel::kStates + ManagerModel::kStates;

/// The work of fuzzers so far.
struct FuzzCounts {
  std::uint64_t programs = 0;
  std::uint64_t frames = 0;      ///< in both directions
  std::uint64_t signatures = 0;  ///< different things that happened
  std::uint64_t corpus = 0;      ///< programs that are kept because something new happened in them
  std::uint64_t states = 0;      ///< different states of a QP, of kFuzzStates
  std::uint64_t findings = 0;    ///< those that are being examined, too
};

/// All that a fuzzer needs to go on where another one ended, but for the programs of its corpus.
struct FuzzMemory {
  std::uint64_t programs = 0;
  std::uint64_t frames = 0;
  std::vector<std::uint64_t> signatures{};
  std::vector<std::uint64_t> states{};
  std::vector<Finding> findings{};
  std::vector<std::uint64_t> left_out{};  ///< shapes of actions (action_shape.h) that the gate lets programs leave out
};

/// Knowledge that fuzzers of one device have gathered together. All functions may be called from several threads, but
/// for those that return references.
class Knowledge {
 public:
  /// The next step for a program that ran.
  struct Lesson {
    bool is_known = false;          ///< it ran as it stands in the corpus
    bool has_new_coverage = false;  ///< something else was new about it than its signatures
    bool keeps_corpus = true;       ///< it may become one to go on from
    bool goes_on = false;           ///< it went on from one that was kept
  };

  /// Counts a program that ran, and learns what was new in it.
  void learn(const ProgramResult& result, const Lesson& lesson);
  /// Counts a finding that is known. Returns the number of one that is new, which the caller has to examine and settle;
  /// empty: it is known.
  [[nodiscard]] std::optional<std::size_t> claim(const ProgramResult& failed);
  /// Makes the finding of this number one that was examined.
  void settle(std::size_t number, Finding examined);
  [[nodiscard]] Finding finding(std::size_t number) const;

  /// A program during which the device stopped answering: it, or one that ran at the same time, did that.
  struct Suspect {
    std::size_t finding = 0;  ///< number
    Program program;
  };
  /// Returns the suspect that has waited longest; empty if there is none.
  [[nodiscard]] std::optional<Suspect> take_suspect();
  /// Lets a suspect be the next again.
  void put_back(Suspect suspect);

  /// Lets a program run as it is before others are made up.
  void try_first(Program program);
  /// Returns the next one of these; empty if there is none.
  [[nodiscard]] std::optional<Program> take_untried();
  /// Goes on from a program, too, without running it as it is.
  void go_on_from(Program program);
  /// Returns a program to go on from; empty if a fresh one is to be made up. The source that showed more that is new
  /// lately is used for seven of eight programs.
  [[nodiscard]] std::optional<Program> draw_known(Random& random) const;

  /// Goes on where other fuzzers ended, before anything is learned.
  void remember(FuzzMemory memory);
  /// Returns what was learned, for another one to go on. Findings that are being examined are not in it.
  [[nodiscard]] FuzzMemory memory() const;
  [[nodiscard]] FuzzCounts counts() const;
  /// Returns the programs in which something happened for the first time since the last call, each up to there.
  [[nodiscard]] std::vector<Program> take_kept();
  /// Returns the findings that were settled since the last call.
  [[nodiscard]] std::vector<Finding> take_settled();
  /// Returns all findings. Only as long as no other thread uses this object.
  [[nodiscard]] const std::vector<Finding>& findings() const { return findings_; }

 private:
  mutable std::mutex mutex_;
  std::vector<Program> corpus_;
  std::deque<Program> untried_;
  std::vector<Program> kept_;
  std::vector<std::uint64_t> signatures_;    ///< the oldest first
  std::unordered_set<std::uint64_t> known_;  ///< signatures
  double new_in_fresh_ = 1;                  ///< signatures that a program shows for the first time, smoothed, …
  double new_in_known_ = 0;                  ///< … and one that goes on from what is known
  std::vector<bool> states_ = std::vector<bool>(kFuzzStates);
  std::vector<Finding> findings_;
  std::unordered_set<std::size_t> claimed_;  ///< numbers of findings that are being examined
  std::vector<std::size_t> settled_;         ///< numbers of findings that nobody has taken
  std::deque<Suspect> suspects_;
  FuzzCounts counts_{};
};

}  // namespace roce::conform::fuzz
