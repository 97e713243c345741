// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "gen/failure.h"
#include "gen/frame_source.h"
#include "roce/port/interfaces.h"

namespace roce::gen {

/// Fills in what nobody set: the source addresses of the outermost headers are those of `interface` (its first address
/// of the packet's kind; none where it has none), and with `to`, an IP address, the destinations are that one and the
/// Ethernet address of the next hop there. Failures: `to` is no address, or of another kind than a packet; nobody
/// answers for it.
[[nodiscard]] Outcome<void> fill_addresses(std::vector<VaryingPacket>& packets, const port::Interface& interface,
                                           const std::string& to);

}  // namespace roce::gen
