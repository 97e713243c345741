// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <span>
#include <string>

#include "analyze/counters/counter_comparison.h"
#include "analyze/counters/host_counters.h"
#include "analyze/counters/nic_counter_names.h"
#include "analyze/session/analysis_session.h"

namespace roce::analyze {

/// The selection of counters to show.
struct CountersView {
  std::optional<NicVendor> vendor{};  ///< only the counters of this vendor
  bool with_all = false;              ///< for people: also counters that are 0, and those that no capture can tell
};

/// `17`, `3 to 5`
[[nodiscard]] std::string figure_text(const Figure& figure);

/// Writes a table for each host.
void show_counters_text(AnalysisSession& session, std::span<const HostCounts> hosts, const CountersView& view);
/// Writes a JSON object for each host.
void show_counters_json(AnalysisSession& session, std::span<const HostCounts> hosts, const CountersView& view);
/// Writes a line for each host and counter.
void show_counters_csv(AnalysisSession& session, std::span<const HostCounts> hosts, const CountersView& view);

/// Writes a row for each counter; for people without those that are 0 on both sides, unless all are wanted.
void show_comparison(AnalysisSession& session, std::span<const ComparedCounter> counters, const CountersView& view);

}  // namespace roce::analyze
