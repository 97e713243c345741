// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "conform/report/run_result.h"

namespace roce::conform {

/// Reads a file that `to_json` made. Error, one line: the file cannot be read, is longer than 1 GiB, is no JSON or not
/// a result of this version, or a member is missing or wrong, with its place in the JSON.
[[nodiscard]] tl::expected<RunResult, std::string> read_result(const std::string& path);

}  // namespace roce::conform
