// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "roce/wire/types.h"

namespace roce::sim {

using Frame = std::vector<std::byte>;

/// Returns the frames that a link makes of a unit from a device: `unit` itself, or its packets of
/// `segment_size` bytes from BTH through ICRC (the last may be shorter), each behind its own copy of the
/// headers, with lengths, IPv4 identification and checksum made right.
[[nodiscard]] std::vector<Frame> cut(Bytes unit, std::uint32_t segments, std::uint32_t segment_size);

/// Sets congestion experienced as a switch does (RFC 3168): only in packets that are ECN-capable; the IPv4 checksum
/// is adjusted. Returns true if the packet was marked.
bool mark_congestion(Frame& frame);

/// Returns a line such as `RC_WRITE_FIRST qp 0x000011 psn 5 A=0 len 1024`, with an AETH also `syndrome ACK msn 3`.
[[nodiscard]] std::string describe(Bytes frame);

}  // namespace roce::sim
