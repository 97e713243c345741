// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "command_line/outcome.h"
#include "gen/frames/frame_source.h"
#include "roce/port/interfaces.h"

namespace roce::gen {

/// Fills in the addresses that the user did not set. The source addresses of the outermost headers become those of
/// `interface` (its first address of the packet's kind; unchanged if it has none). With `to`, an IP address, the
/// destinations become that address and the Ethernet address of the next hop to it. Failures: `to` is not an address,
/// or of another kind than a packet; no neighbour answers for it.
[[nodiscard]] Outcome<void> fill_addresses(std::vector<VaryingPacket>& packets, const port::Interface& interface,
                                           const std::string& to);

}  // namespace roce::gen
