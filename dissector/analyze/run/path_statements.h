// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analyze/run/summary_statements.h"
#include "roce/analysis/paths.h"

namespace roce::analyze {

/// How statements call hosts and capture points.
struct PathNames {
  std::function<std::string(const Gid&)> host;
  std::function<std::string(std::uint16_t)> point;
  std::string arrow;  ///< between two hosts
};

/// Returns what the paths show of how networks will treat their packets, warnings first: everything on one link of
/// several, data of several classes, CNPs in the class of data, marks that change between capture points.
[[nodiscard]] std::vector<Statement> statements_about_paths(std::span<const analysis::PathSummary> paths,
                                                            const PathNames& names);

}  // namespace roce::analyze
