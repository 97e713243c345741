// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conform/run/outcome.h"

namespace roce::conform {

/// How often a verdict has to be seen before it stands. As it is by default, the first run of an instance decides.
struct TryPlan {
  std::uint32_t passes = 1;    ///< that make a pass, if they are more than the equal failures
  std::uint32_t failures = 1;  ///< of the same kind that make a failure, if they are more than the passes
  std::uint32_t most = 1;      ///< tries of an instance
  /// Frames are lost on the way. Failures are then the same only if as many frames had come and gone, and instances are
  /// run again together, because many have to be.
  bool loses_frames = false;
};

/// Returns the plan for a wire that loses no frames: a failure is repeated alone, and two equal ones of three decide.
[[nodiscard]] TryPlan plan_without_loss();
/// Returns the plan for a wire that loses this share of the frames, 0 … 1, in each direction. One step fails by a loss
/// with at most twice that chance; as many equal failures are wanted as make that rarer than one in a million.
[[nodiscard]] TryPlan plan_for_loss(double share);

/// Collects what the runs of one instance showed, until they agree or there were enough of them.
class Tries {
 public:
  explicit Tries(const TryPlan& plan) : plan_(plan) {}

  /// Takes the outcome of one run. A run in which the tester lost frames or was late proves nothing, and decides
  /// nothing. One in which the device died is only listed.
  void add(CaseOutcome outcome, bool is_alone);
  /// True once there is a verdict.
  [[nodiscard]] bool is_over() const;
  /// True if no other instance shall run during the next try: it may be that the tester was too slow.
  [[nodiscard]] bool wants_alone() const;
  /// True if a run failed that counts.
  [[nodiscard]] bool has_failures() const { return !kinds_.empty(); }
  /// Returns the outcome with the verdict: of the last run that showed it, with all tries if there were several;
  /// `inconclusive` if there is none. `place` is that of the case. To be called once.
  [[nodiscard]] CaseOutcome verdict(const Place& place);

 private:
  /// Runs that failed in the same way.
  struct Kind {
    std::string key;
    std::uint32_t count = 0;
    CaseOutcome last{};
  };

  [[nodiscard]] std::string key_of(const CaseOutcome& outcome) const;
  [[nodiscard]] std::uint32_t most_failures() const;
  [[nodiscard]] bool has_passed() const;
  [[nodiscard]] bool has_failed() const;

  TryPlan plan_;
  std::vector<Try> tries_;
  std::uint32_t runs_ = 0;
  std::uint32_t passes_ = 0;
  CaseOutcome other_{};  ///< the last run that passed or was skipped, or that does not count
  bool is_skipped_ = false;
  std::vector<Kind> kinds_;
};

}  // namespace roce::conform
