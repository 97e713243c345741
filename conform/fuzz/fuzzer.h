// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "conform/fuzz/bench.h"
#include "conform/fuzz/finding.h"
#include "conform/fuzz/gate.h"
#include "conform/fuzz/generator.h"
#include "conform/fuzz/minimiser.h"
#include "conform/fuzz/program_run.h"
#include "conform/fuzz/requester_model.h"
#include "conform/run/suite.h"

namespace roce::conform::fuzz {

/// States of a QP that are told apart, for both halves.
inline constexpr unsigned kFuzzStates = DeviceModel::kStates + RequesterModel::kStates;

/// The work of a fuzzer so far.
struct FuzzCounts {
  std::uint64_t programs = 0;
  std::uint64_t frames = 0;      ///< in both directions
  std::uint64_t signatures = 0;  ///< different things that happened
  std::uint64_t corpus = 0;      ///< programs that are kept because something new happened in them
  std::uint64_t states = 0;      ///< different states of a QP, of kFuzzStates
};

/// All that a fuzzer needs to go on where another one ended, but for the programs of its corpus.
struct FuzzMemory {
  std::uint64_t programs = 0;
  std::uint64_t frames = 0;
  std::vector<std::uint64_t> signatures{};
  std::vector<std::uint64_t> states{};
  std::vector<Finding> findings{};
};

/// Fills the regions that the peer may use, so that a READ of the wrong place shows. Error: the device refuses a verb.
[[nodiscard]] TargetResult<ProgramResult> fill_regions(Bench& bench);

/// Runs a program that is made up: `from` with one more thing wrong, if it has actions, and what is made up behind it.
/// Error: the device cannot be used. Throws DeviceGone.
[[nodiscard]] TargetResult<ProgramResult> run_made_up(Bench& bench, const Program& from, Random& random);

/// Makes up conversations with a device, keeps those in which something new happened, goes on from them, and collects
/// what the device does wrong. The same seed and device give the same conversations.
class Fuzzer {
 public:
  struct Settings {
    Timing timing{};
    std::uint64_t seed = 1;
    std::uint64_t frames_a_second = 0;  ///< at most; 0: as fast as the device answers
    unsigned repeats = 20;              ///< runs of a finding, which say how often it shows
    std::size_t trials = kMostTrials;   ///< runs of shorter programs that look for the shortest
    bool keeps_device = false;  ///< after an alarm, as long as memory is as it should be: on a wire a new one is dear
    bool keeps_corpus = true;   ///< goes on from programs in which something new happened
    /// Returns true if the device has done something since the last call that it had never done; empty: nobody can look
    /// into it.
    std::function<bool()> has_new_coverage{};
  };
  Fuzzer(TargetFactory make_target, const Settings& settings);

  /// Runs one program. Returns true if it showed a fault that was not known. Error: the device cannot be used. Throws
  /// DeviceGone.
  [[nodiscard]] TargetResult<bool> step();
  /// Runs a program as it is. Throws DeviceGone. Error: the device cannot be used.
  [[nodiscard]] TargetResult<ProgramResult> run(const Program& program);

  /// Lets go of the device, before another one takes its place.
  void forget_device();
  /// Runs the newest finding once more alone, if the device was gone when it was made: whether that stops the device
  /// again, or shows something else. Throws DeviceGone if it is gone already.
  void try_death_again();

  /// Lets a program run as it is before others are made up.
  void try_first(Program program) { untried_.push_back(std::move(program)); }
  /// Goes on from a program, too, without running it as it is.
  void go_on_from(Program program);
  /// Goes on where another fuzzer ended, with other conversations. To be called before the first step.
  void remember(FuzzMemory memory);
  /// Returns the programs in which something happened for the first time since the last call, each up to there.
  [[nodiscard]] std::vector<Program> take_kept() { return std::exchange(kept_, {}); }

  [[nodiscard]] const FuzzCounts& counts() const { return counts_; }
  [[nodiscard]] const std::vector<Finding>& findings() const { return findings_; }
  /// Returns all signatures, the oldest first.
  [[nodiscard]] const std::vector<std::uint64_t>& signatures() const { return signatures_; }
  /// Returns the numbers of the states that were reached.
  [[nodiscard]] std::vector<std::uint64_t> states() const;

 private:
  /// Makes a device with a bench, and fills its memory. Returns what came of that.
  [[nodiscard]] TargetResult<ProgramResult> prepare();
  /// Makes the device ready for a program. Returns true if that showed a fault that was not known; the bench is then
  /// gone.
  [[nodiscard]] TargetResult<bool> be_ready();
  /// Finds out for which programs the device has what they need.
  void look_around();
  /// Runs the next program: one that is to be tried first, a new one, or one that goes on from a known one.
  [[nodiscard]] TargetResult<ProgramResult> run_next();
  void learn(const ProgramResult& result, bool is_known);
  /// Adds a finding, or counts a known one; true if it is new.
  bool note(const ProgramResult& failed);
  /// Makes a finding as short as can be, and finds out how often it shows.
  [[nodiscard]] Finding examine(const ProgramResult& failed);
  [[nodiscard]] std::optional<ProgramResult> run_alone(const Program& program);
  /// Gives a device up that did wrong, and may have changed more than was looked at.
  void drop_device();

  TargetFactory make_target_;
  Settings settings_;
  Random random_;
  Gate gate_;
  std::unique_ptr<Target> target_;
  std::optional<Bench> bench_;
  Variety variety_;
  std::vector<Program> corpus_;
  std::deque<Program> untried_;
  std::vector<Program> kept_;
  std::vector<std::uint64_t> signatures_;
  std::unordered_set<std::uint64_t> known_;  ///< signatures
  std::unordered_set<std::uint64_t> pairs_;  ///< of signatures, one after the other
  std::vector<bool> states_ = std::vector<bool>(kFuzzStates);
  std::vector<Finding> findings_;
  FuzzCounts counts_{};
};

}  // namespace roce::conform::fuzz
