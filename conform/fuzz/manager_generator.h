// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "conform/fuzz/draw.h"
#include "conform/fuzz/manager_model.h"
#include "conform/fuzz/program_begin.h"

namespace roce::conform::fuzz {

/// Makes up a program for the device's communication manager while it runs: most messages are right in the state of the
/// connection, and at the end another connection is asked for, which shows whether the manager is as it should be.
/// `begin` is what the program begins with, which may be wrong in one more way.
class ManagerGenerator {
 public:
  ManagerGenerator(Random& random, std::vector<Action> begin);

  [[nodiscard]] std::optional<Action> next(const ManagerModel& model);

 private:
  Random& random_;
  std::size_t length_;  ///< actions before the last one
  ProgramBegin begin_;
  std::size_t next_ = 0;
};

/// Makes one thing about a message wrong, or at least rare.
void mutate(Message& message, Random& random);

}  // namespace roce::conform::fuzz
