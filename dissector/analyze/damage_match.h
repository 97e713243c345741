// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <span>

#include "analyze/capture_match.h"

namespace roce::analyze {

/// Matches packets whose headers were damaged between the points, so that they look like another packet: one without a
/// match and with a wrong ICRC belongs to the one without a match in the other capture that was sound, has the same
/// ICRC field, or if that was hit the same of everything else. Where several are as near, none is taken.
void match_damaged(std::span<const SeenPacket> a, std::span<const SeenPacket> b, const FlowTable& flows,
                   std::int64_t within_ns, CaptureMatch& match);

}  // namespace roce::analyze
