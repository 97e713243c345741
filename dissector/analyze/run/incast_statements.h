// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analyze/run/summary_statements.h"
#include "roce/analysis/fan_in.h"
#include "roce/analysis/verdict.h"

namespace roce::analyze {

/// Returns how many packets a verdict reports to be lost, or missing without an explanation, on their way to the host
/// that its packet goes to.
[[nodiscard]] std::uint32_t packets_lost_by(const analysis::Verdict& verdict);

/// How a survey was made.
struct IncastView {
  Duration window{};
  std::uint64_t link_bits_per_second = 0;  ///< of the link to each host; 0: unknown
};

/// Returns what the survey shows of hosts that several others send to at once, warnings first: that packets are lost or
/// marked while they do, and which sender suffers most. `name` is what a host is called.
[[nodiscard]] std::vector<Statement> statements_about_incast(std::span<const analysis::FanInSummary> destinations,
                                                             const IncastView& view,
                                                             const std::function<std::string(const Gid&)>& name);

}  // namespace roce::analyze
