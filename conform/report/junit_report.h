// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "conform/report/run_result.h"

namespace roce::conform {

/// Returns JUnit XML: a suite for each group, a case for each instance.
[[nodiscard]] std::string to_junit(const RunResult& result);

}  // namespace roce::conform
