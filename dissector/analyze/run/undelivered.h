// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "analyze/run/summary_statements.h"
#include "roce/analysis/reachability.h"

namespace roce::analyze {

/// Returns who said that packets did not arrive, why, and how often: `ICMP port unreachable from 192.0.2.2, 7 times`.
[[nodiscard]] std::string undelivered_text(const analysis::IcmpErrorSummary& error);
/// Returns what to do about it.
[[nodiscard]] std::string undelivered_advice(const analysis::IcmpErrorSummary& error);

/// Returns what ICMP errors say about packets between hosts of which at least one connection worked, or of which there
/// is none, those about dead connections first.
[[nodiscard]] std::vector<Statement> statements_about_undelivered(const JudgedPart& part);

}  // namespace roce::analyze
