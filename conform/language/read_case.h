// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "conform/language/case.h"

namespace roce::conform {

/// Reads the case in the text of a file; `path` is the name that errors use.
[[nodiscard]] CaseResult<Case> read_case(const std::string& path, const std::string& text);
/// Reads the case in a file, whose name has to be the case's.
[[nodiscard]] CaseResult<Case> read_case_file(const std::string& path);
/// Reads all cases under a folder, ordered by group and name; or one file. Errors: there is none, two of one name, and
/// those of the first file that is wrong.
[[nodiscard]] CaseResult<std::vector<Case>> read_cases(const std::string& path);

}  // namespace roce::conform
