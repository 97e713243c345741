// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string_view>

#include "gen/exchange/exchange.h"

namespace roce::gen {

/// `send`, `write`, `read`, `fetch_add`, `compare_swap`, `flush` or `ud`
[[nodiscard]] std::string_view name_of(ExchangeKind kind);

/// Returns the time that a share (0 to 1) of all did not exceed; the shortest for 0, and 0 if there are none.
[[nodiscard]] Duration latency_at(const runtime::LatencyHistogram& latency, double share);

/// Prints the result of an exchange: tables for people, or a JSON object on one line.
void print_exchange(const ExchangeOptions& options, const ExchangeResult& result, bool json);

}  // namespace roce::gen
