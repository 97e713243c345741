// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>

#include "conform/report/changes.h"
#include "conform/report/run_result.h"

namespace roce::conform {

/// Returns the data of the page of `--report` as JSON (tools/page/web/src/conform_types.ts): numbers by area, case and
/// rule, every instance, and each deviation with its frames. It is at most about 14 MB long and says what it leaves
/// out: frames first, then instances that passed, then deviations.
[[nodiscard]] std::string report_page_json(const RunResult& result, const std::optional<ResultChanges>& changes);

/// Returns the page of `--report`; only in a build that has pages (`page::why_unavailable`).
[[nodiscard]] std::string report_page(const RunResult& result, const std::optional<ResultChanges>& changes);

}  // namespace roce::conform
