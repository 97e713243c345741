// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "analyze/run/summary_statements.h"

namespace roce::analyze {

/// Returns a sentence about each host that fell silent on all of its connections at once, the worst first; at most
/// three. Silence counts only where another host sent it requests again in vain. Two connections or more have to show
/// it, with two hosts or more, or the host has to have announced itself or moved to another MAC address when it ended;
/// and no packet of the host may be from that time.
[[nodiscard]] std::vector<Statement> statements_about_silent_hosts(const JudgedPart& part);

}  // namespace roce::analyze
