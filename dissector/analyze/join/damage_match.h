// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <span>

#include "analyze/join/capture_match.h"

namespace roce::analyze {

/// Matches packets whose headers were damaged between the points, so that they look like other packets. An unmatched
/// packet with a wrong ICRC is matched with an undamaged, unmatched packet of the other capture that has the same ICRC
/// field or, if the ICRC itself was hit, the same other fields. If several are equally near, none is taken.
void match_damaged(std::span<const SeenPacket> a, std::span<const SeenPacket> b, const FlowTable& flows,
                   std::int64_t within_ns, CaptureMatch& match);

}  // namespace roce::analyze
