// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "analyze/run/summary_statements.h"

namespace roce::analyze {

/// Returns what sizes of packets show: that everything over a size is lost between two hosts, and path MTUs that do not
/// fit each other. The former needs `kLeastLarger` transmissions of larger packets, none of which was acknowledged, to
/// which the requester went back `kLeastTries` times, and packets that came back since.
[[nodiscard]] std::vector<Statement> statements_about_sizes(const JudgedPart& part);

/// Returns the hosts, sender first, of which it says that everything over a size is lost.
[[nodiscard]] std::set<std::pair<Gid, Gid>> hosts_that_lose_sizes(const JudgedPart& part);

inline constexpr std::uint64_t kLeastLarger = 8;
inline constexpr std::uint32_t kLeastTries = 3;
/// So many smaller packets show that the way is good for them.
inline constexpr std::uint64_t kLeastSmaller = 8;

}  // namespace roce::analyze
