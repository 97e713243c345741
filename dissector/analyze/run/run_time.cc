// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/run_time.h"

#include <fmt/format.h>

namespace roce::analyze {

std::int64_t run_ns(const AnalysisResult& result, Time time) {
  // The first timestamp is any number; `time` has been limited.
  const Time first = analysis::limited(Time{Duration{result.counts.first_ns.value_or(0)}});
  return (time - first).count();
}

std::string run_seconds(const AnalysisResult& result, Time time) {
  return fmt::format("{:.6f} s", static_cast<double>(run_ns(result, time)) / 1e9);
}

}  // namespace roce::analyze
