// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "roce/impair/rule.h"

namespace roce::impair {

/// Returns an error that puts `rule 2: psn: ` in front of `message`; `key` may be empty.
[[nodiscard]] RuleError rule_error(std::size_t number, std::string_view key, const std::string& message);

/// Checks that a rule can be used, and brings it into the canonical form of its text. `number` counts from 1.
[[nodiscard]] RuleResult<void> check_rule(Rule& rule, std::size_t number);

/// Makes a rule from names and texts; it is not checked yet.
[[nodiscard]] RuleResult<Rule> read_rule(const RuleValues& values, std::size_t number);

[[nodiscard]] std::string to_text(const OpcodeTerm& term);
[[nodiscard]] std::string_view to_string(Position position);

}  // namespace roce::impair
