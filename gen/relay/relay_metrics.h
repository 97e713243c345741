// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <span>
#include <string>

#include "gen/relay/relay.h"
#include "roce/live/metrics.h"

namespace roce::gen {

/// The names of the interfaces a and b.
using RelayInterfaces = std::array<std::string, 2>;

/// Returns the rows of the counters of a direction.
[[nodiscard]] std::span<const live::CounterRow<RelayCounters>> relay_counter_rows();
/// Returns the counters of a relay, by direction and by rule.
[[nodiscard]] live::Metrics relay_metrics(const RelayInterfaces& interfaces, const Relay& relay);

}  // namespace roce::gen
