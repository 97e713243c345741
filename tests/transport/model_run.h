// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>

#include "model_program.h"

namespace roce::model {

/// The result of a run.
struct Result {
  std::string failure;  ///< empty if everything is as it has to be
  std::uint64_t frames = 0;
  std::uint64_t completions = 0;
  std::uint64_t errors = 0;  ///< completions with an error
};

/// Runs a program on two devices and compares the result with the reference.
[[nodiscard]] Result run(const Program& program);

}  // namespace roce::model
