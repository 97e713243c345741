// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "analyze/run/summary_statements.h"

namespace roce::analyze {

/// Returns the number of connections of a part: of its streams that are no datagrams.
[[nodiscard]] std::uint64_t count_connections(const JudgedPart& part);

/// Returns how many of these are such: `2 of 6 connections lost packets`. `one` and `many` are the words behind it.
[[nodiscard]] std::string connections_that(const JudgedPart& part,
                                           const std::function<bool(const analysis::StreamSummary&)>& holds,
                                           std::string_view one, std::string_view many);

}  // namespace roce::analyze
