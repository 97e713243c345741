// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "conform/language/case.h"

namespace roce::conform {

/// Returns the single frames that a pattern stands for: the packets of READ_RESPONSE at a path MTU, else the pattern
/// itself. Error: an expression has no value, or the answer has more than 65,536 packets.
[[nodiscard]] CaseResult<std::vector<FramePattern>> frames_of(const FramePattern& pattern, std::uint32_t path_mtu,
                                                              const Scope& scope);

}  // namespace roce::conform
