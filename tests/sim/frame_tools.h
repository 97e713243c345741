// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "roce/wire/types.h"

namespace roce::sim {

using Frame = std::vector<std::byte>;

/// The frames that a link makes of what a device hands over: `unit` itself, or its packets of `segment_size` bytes
/// from BTH through ICRC (the last may be shorter), each behind its own copy of the headers with the lengths, the IPv4
/// identification and the checksum put right.
[[nodiscard]] std::vector<Frame> cut(Bytes unit, std::uint32_t segments, std::uint32_t segment_size);

/// Sets congestion experienced, as a switch does (RFC 3168): only in packets that are ECN-capable; the IPv4 checksum
/// follows. Returns whether it did.
bool mark_congestion(Frame& frame);

/// `RC_WRITE_FIRST qp 0x000011 psn 5 A=0 len 1024`, with an AETH `syndrome ACK msn 3`.
[[nodiscard]] std::string describe(Bytes frame);

}  // namespace roce::sim
