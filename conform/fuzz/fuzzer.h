// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "conform/fuzz/bench.h"
#include "conform/fuzz/finding.h"
#include "conform/fuzz/gate.h"
#include "conform/fuzz/generator.h"
#include "conform/fuzz/knowledge.h"
#include "conform/fuzz/minimiser.h"
#include "conform/fuzz/program_run.h"
#include "conform/fuzz/signature.h"
#include "conform/run/suite.h"

namespace roce::conform::fuzz {

/// Fills the regions that the peer may use, so that a READ of the wrong place shows. Error: the device refuses a verb.
[[nodiscard]] TargetResult<ProgramResult> fill_regions(Bench& bench);

/// Runs a program that is made up: `from` with one more thing wrong, if it has actions, and what is made up behind it.
/// Error: the device cannot be used. Throws DeviceGone.
[[nodiscard]] TargetResult<ProgramResult> run_made_up(Bench& bench, const Program& from, Random& random);

/// Makes up conversations with a device, keeps those in which something new happened, goes on from them, and collects
/// what the device does wrong. The same seed and device give the same conversations, as long as no other fuzzer has the
/// same knowledge.
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
    /// Returns true once a finding is no longer to be made shorter, because the run is over; empty: never.
    std::function<bool()> is_over{};
    /// Returns true if the device has done something since the last call that it had never done; empty: nobody can look
    /// into it.
    std::function<bool()> has_new_coverage{};
  };
  /// A fuzzer with knowledge of its own.
  Fuzzer(TargetFactory make_target, const Settings& settings);
  /// One of several fuzzers of a device, each in a thread of its own. `settings.frames_a_second` is not looked at: the
  /// gate, through which the frames of all go, has the rate.
  Fuzzer(TargetFactory make_target, const Settings& settings, std::shared_ptr<Knowledge> knowledge,
         std::shared_ptr<Gate> gate);

  /// Runs one program. Returns true if it showed a fault that was not known. Error: the device cannot be used. Throws
  /// DeviceGone.
  [[nodiscard]] TargetResult<bool> step();
  /// Runs a program as it is. Throws DeviceGone. Error: the device cannot be used.
  [[nodiscard]] TargetResult<ProgramResult> run(const Program& program);

  /// Lets go of the device, before another one takes its place.
  void forget_device();
  /// Runs a program once more alone during which the device stopped answering. If it does that again, programs leave
  /// out from now on what looks like the last frame. Throws DeviceGone if it is gone already; the suspect waits then.
  void try_again(Knowledge::Suspect suspect);

  /// Makes up other conversations from now on than a fuzzer of the same seed whose knowledge has so many programs.
  void begin_behind(std::uint64_t programs) { random_.seed(mix(settings_.seed, programs)); }
  [[nodiscard]] Knowledge& knowledge() const { return *knowledge_; }
  [[nodiscard]] Gate& gate() const { return *gate_; }

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
  /// Chooses which half of the device a new program is for.
  void choose_half(Program& program);
  /// Learns what a program showed that ran. The lesson's coverage and corpus are filled in.
  void learn(const ProgramResult& result, Knowledge::Lesson lesson);
  /// Adds a finding, or counts a known one; true if it is new.
  bool note(const ProgramResult& failed);
  /// Makes a finding as short as can be, and finds out how often it shows; both only as long as the run is not over.
  [[nodiscard]] Finding examine(const ProgramResult& failed);
  [[nodiscard]] std::optional<ProgramResult> run_alone(const Program& program);
  /// Lets programs leave out what a device died of.
  void leave_out_killer(const ProgramResult& death);
  /// Gives a device up that did wrong, and may have changed more than was looked at.
  void drop_device();

  TargetFactory make_target_;
  Settings settings_;
  Random random_;
  std::shared_ptr<Knowledge> knowledge_;
  std::shared_ptr<Gate> gate_;
  std::unique_ptr<Target> target_;
  std::optional<Bench> bench_;
  Variety variety_;
};

}  // namespace roce::conform::fuzz
