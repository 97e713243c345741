// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "gen/failure.h"
#include "roce/impair/rule.h"

namespace roce::gen {

/// The rules of a file (docs/impair.md; none if `path` is empty), then those of `texts`. A name that ends in `.json` is
/// a JSON list of maps. Failure: the file cannot be read, or a rule is wrong; it says where.
[[nodiscard]] Outcome<impair::RuleSet> load_rules(const std::string& path, const std::vector<std::string>& texts);

}  // namespace roce::gen
