// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analyze/run/nvme_figures.h"
#include "analyze/run/summary_statements.h"

namespace roce::analyze {

/// How statements call things.
struct NvmeWords {
  std::function<std::string(const analysis::NvmeQueue&)> queue;
  std::function<std::string(analysis::PacketId)> frame;
};

/// Returns what commands of NVMe show, the worst first: those that nobody answered, statuses that are not 0, keep-alive
/// gaps, and what was lost. `queues` are those of the survey, by their indices in `figures`; those that are not wanted
/// have no figures.
[[nodiscard]] std::vector<Statement> statements_about_nvme(const std::vector<analysis::NvmeQueue>& queues,
                                                           const NvmeFigures& figures, const NvmeWords& words);

}  // namespace roce::analyze
