// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/connection_shares.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/run/stream_figures.h"
#include "text/human_units.h"

namespace roce::analyze {

std::uint64_t count_connections(const JudgedPart& part) {
  return static_cast<std::uint64_t>(std::ranges::count_if(part.streams, is_connected));
}

std::string connections_that(const JudgedPart& part, const std::function<bool(const analysis::StreamSummary&)>& holds,
                             std::string_view one, std::string_view many) {
  const auto count = static_cast<std::uint64_t>(std::ranges::count_if(
      part.streams, [&](const analysis::StreamSummary& stream) { return is_connected(stream) && holds(stream); }));
  return fmt::format("{} of {} {}", text::count_text(count),
                     text::counted(count_connections(part), "connection", "connections"), count == 1 ? one : many);
}

}  // namespace roce::analyze
