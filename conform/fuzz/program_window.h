// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conform/fuzz/bench.h"

namespace roce::conform::fuzz {

/// The window of type 2 of a program's QP, which is made when it is bound for the first time.
class ProgramWindow {
 public:
  /// `bench` has to outlive the window, which is of its device.
  ProgramWindow(Bench& bench, QpNumber qp) : bench_(bench), qp_(qp) {}

  /// The end of a binding.
  struct Bound {
    bool is_taken = true;                               ///< false: the device refused to post it
    std::optional<transport::Completion> completion{};  ///< empty: none came in time
    Region window{};                                    ///< what it opens if it is bound
    std::uint32_t reported_key = 0;                     ///< its R_Key then, as the device says it
  };
  /// Lets the device bind it, and waits for the completion; `pass_time` lets the device go on for its quiet time.
  /// Error: the device makes no window.
  [[nodiscard]] TargetResult<Bound> bind(const Bind& bind, std::uint64_t wr_id, const std::function<void()>& pass_time);
  /// Destroys it, if there is one. Error: the device refuses.
  [[nodiscard]] TargetResult<void> destroy();

 private:
  Bench& bench_;
  QpNumber qp_;
  std::optional<WindowNumber> window_{};
};

/// Returns the statuses that the completion of a binding may have.
[[nodiscard]] std::vector<transport::CompletionStatus> statuses_of(BindOutcome outcome);

/// Returns what is wrong with the completion of a binding; empty if nothing is.
[[nodiscard]] std::string find_mistake(const transport::Completion& completion, std::uint64_t wr_id,
                                       BindOutcome outcome);

}  // namespace roce::conform::fuzz
