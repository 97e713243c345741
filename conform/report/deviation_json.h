// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <string>

#include "conform/report/run_result.h"

namespace roce::conform {

/// The deviations of a page, and what there was no room for.
struct DeviationList {
  std::string json{};              ///< an array of `Deviation` (tools/page/web/src/conform_types.ts)
  std::size_t left_out = 0;        ///< deviations
  std::size_t without_frames = 0;  ///< of those in the list
};

/// Returns the instances of a result that failed, or passed although the device is known to fail, each with its frames.
/// The array is at most 6 MB long, and one deviation longer.
[[nodiscard]] DeviationList list_deviations(const RunResult& result);

}  // namespace roce::conform
