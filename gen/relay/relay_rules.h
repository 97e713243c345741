// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "command_line/outcome.h"
#include "roce/impair/rule.h"

namespace roce::gen {

/// Reads the rules of a file (docs/impair.md; none if `path` is empty), then those of `texts`. A file whose name ends
/// in `.json` is a JSON list of maps. Failure: the file cannot be read, or a rule is wrong; it names the place.
[[nodiscard]] Outcome<impair::RuleSet> load_rules(const std::string& path, const std::vector<std::string>& texts);

}  // namespace roce::gen
