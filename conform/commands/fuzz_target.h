// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "command_line/outcome.h"
#include "conform/commands/device.h"
#include "roce/wire/types.h"

namespace roce::conform {

/// Reads the routers that packets of this host leave by, from the tables /proc/net/route and /proc/net/ipv6_route.
/// Lines that are not of their form are left out.
[[nodiscard]] std::vector<Gid> read_gateways(std::istream& route, std::istream& ipv6_route);

/// Reads the name servers of this host from the text of /etc/resolv.conf. Lines that name none are left out.
[[nodiscard]] std::vector<Gid> read_name_servers(std::istream& resolv_conf);

/// Finds out, before anything is opened, whether the fuzzer may send to the device that a user named. Failures, with
/// exit code 2: a device on a wire without an agent or an address, what is not the address of a single host, or that of
/// a router or a name server of this host.
[[nodiscard]] Outcome<void> check_target(const DeviceChoice& choice, const std::string& target);
/// Finds out whether the device that was opened is the one that was named. Failure, with exit code 2: the agent is that
/// of another one.
[[nodiscard]] Outcome<void> check_device(const Device& device, const std::string& target);

}  // namespace roce::conform
