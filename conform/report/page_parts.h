// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "conform/report/changes.h"
#include "conform/report/run_result.h"
#include "conform/report/tally.h"

// Parts of the page of `to_html`, each as HTML, and texts that `report_page` has, too.
namespace roce::conform {

/// Returns a number with commas: `3,575`.
[[nodiscard]] std::string number_text(std::size_t number);
/// Returns the numbers in words: `3,575 of 3,583 passed; 8 deviate`.
[[nodiscard]] std::string headline(const Tally& all);

/// Returns what was tested, as names with their texts.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> tested_facts(const Tested& tested);
/// Returns the rows of what was tested.
[[nodiscard]] std::string tested_rows(const Tested& tested);
/// Returns the table of groups, cases and rules, with numbers of instances by their results.
[[nodiscard]] std::string matrix(const RunResult& result);
/// Returns the section about what changed; empty if nothing was compared.
[[nodiscard]] std::string changes_section(const std::optional<ResultChanges>& changes);
/// Returns the table of what is not a failure and not passed: known deviations, and instances that were not judged.
[[nodiscard]] std::string not_judged_section(const RunResult& result);
/// Returns the articles about failures, up to the length of a page. Error: a sentence.
[[nodiscard]] tl::expected<std::string, std::string> failure_articles(const RunResult& result);

}  // namespace roce::conform
