// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "conform/language/case.h"
#include "conform/language/source_node.h"

namespace roce::conform {

/// Reads a list of steps.
[[nodiscard]] CaseResult<std::vector<Step>> read_steps(const SourceNode& node);

}  // namespace roce::conform
