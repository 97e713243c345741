// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string_view>

// Texts that the build takes from files of the source.
namespace roce::conform {

/// The first two columns of each row of docs/rules.md: `| RC-RESP-02 | a gap is answered …`, one a line.
extern const std::string_view kRuleRows;
/// The page that `--html` fills: conform/report/page.html.
extern const std::string_view kPage;

}  // namespace roce::conform
