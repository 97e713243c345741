// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "conform/fuzz/bench.h"
#include "conform/fuzz/generator.h"
#include "conform/fuzz/minimiser.h"
#include "conform/fuzz/program_run.h"
#include "conform/fuzz/requester_model.h"
#include "conform/run/suite.h"

namespace roce::conform::fuzz {

/// One fault of the device, with the shortest program that was found to show it.
struct Finding {
  ProgramResult result;     ///< of that program; it has an alarm
  std::uint64_t times = 1;  ///< how often programs raised this alarm
};

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

/// Makes up conversations with a device, keeps those in which something new happened, goes on from them, and collects
/// what the device does wrong. The same seed and device give the same conversations.
class Fuzzer {
 public:
  Fuzzer(TargetFactory make_target, const Timing& timing, std::uint64_t seed);

  /// Runs one program. Returns true if it showed a fault that was not known. Error: the device cannot be used. Throws
  /// DeviceGone.
  [[nodiscard]] TargetResult<bool> step();

  [[nodiscard]] const FuzzCounts& counts() const { return counts_; }
  [[nodiscard]] const std::vector<Finding>& findings() const { return findings_; }

 private:
  /// Makes a device with a bench, and fills its memory. Returns what came of that.
  [[nodiscard]] TargetResult<ProgramResult> prepare();
  /// Runs a program that is made up, with these actions at its begin.
  [[nodiscard]] TargetResult<ProgramResult> run_new(const Program& program, std::vector<Action> begin);
  void learn(const ProgramResult& result);
  /// Adds a finding, or counts a known one; true if it is new.
  bool note(ProgramResult failed);
  [[nodiscard]] std::optional<ProgramResult> run_alone(const Program& program);

  TargetFactory make_target_;
  Timing timing_;
  Random random_;
  std::unique_ptr<Target> target_;
  std::optional<Bench> bench_;
  std::vector<Program> corpus_;
  std::unordered_set<std::uint64_t> signatures_;
  std::vector<bool> states_ = std::vector<bool>(kFuzzStates);
  std::vector<Finding> findings_;
  FuzzCounts counts_{};
};

}  // namespace roce::conform::fuzz
