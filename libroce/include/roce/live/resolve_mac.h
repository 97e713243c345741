// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "roce/live/result.h"
#include "roce/port/interfaces.h"
#include "roce/wire/types.h"

namespace roce::live {

/// Returns the Ethernet address that frames from `interface` to the IP address `gid` go to: of the host, of the router
/// on the way, or of the multicast group. Waits for an answer for up to 3 s. Failure: nobody answers.
[[nodiscard]] Result<MacAddress> resolve_mac(const port::Interface& interface, const Gid& gid);

}  // namespace roce::live
