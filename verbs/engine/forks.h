// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

namespace roce::verbs {

/// Returns how many forks lie between this process and the one that called this function first. A child has none of its
/// parent's threads, and locks may be held by one of them.
[[nodiscard]] std::uint32_t fork_count();

}  // namespace roce::verbs
