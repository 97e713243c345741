// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "command_line/outcome.h"
#include "conform/fuzz/program.h"

namespace roce::conform {

/// Returns programs of what QPs were asked in capture files, as fuzz::CapturePrograms makes them. Failures: a file
/// cannot be read to its end (exit code 1); there is no request in it (exit code 2).
[[nodiscard]] Outcome<std::vector<fuzz::Program>> programs_of_captures(const std::vector<std::string>& paths);

}  // namespace roce::conform
