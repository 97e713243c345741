// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "command_line/command.h"
#include "command_line/outcome.h"
#include "conform/language/instance.h"

namespace roce::conform {

/// The cases that a command is about.
struct Selection {
  std::vector<std::string> paths;  ///< files and folders; none: the cases that belong to the program
  std::vector<std::string> only;   ///< patterns with * and ? of instances or cases
  bool quick = false;              ///< one instance of each case
};

/// Cases, and their instances, which refer to them.
struct LoadedCases {
  std::vector<Case> cases;
  std::vector<Instance> instances;
};

void add_selection(command_line::Command& command, Selection& selection);
/// Loads the cases and expands those that are selected. Errors, all with exit code 2: a wrong file, no cases, a
/// pattern that fits nothing.
[[nodiscard]] Outcome<LoadedCases> load(const Selection& selection);

/// Prints a failure and returns its exit code.
[[nodiscard]] ExitCode report_failure(const Failure& failure);

}  // namespace roce::conform
