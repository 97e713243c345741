// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "conform/report/changes.h"
#include "conform/report/run_result.h"

namespace roce::conform {

/// Returns one page of HTML that needs nothing else: what was tested, numbers, what changed, and each failure with its
/// frames, which can be saved as pcapng. It is at most about 15 MB long and says what it leaves out. Error: a sentence.
[[nodiscard]] tl::expected<std::string, std::string> to_html(const RunResult& result,
                                                             const std::optional<ResultChanges>& changes);

}  // namespace roce::conform
