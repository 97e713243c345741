// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "conform/report/run_result.h"

namespace roce::conform {

/// The member `format` of a result.
inline constexpr const char* kResultFormat = "roce-conform 2";

/// Returns one JSON object (conform/result.schema.json), from which `read_result` makes the same result again.
[[nodiscard]] std::string to_json(const RunResult& result);

}  // namespace roce::conform
