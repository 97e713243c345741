// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>

#include "roce/link/xdp_link.h"

namespace roce::command_line {
class Command;
}

namespace roce::gen {

/// Adds --xdp-mode and --xdp-queues to a command that has --link.
void add_xdp_options(command_line::Command& command, link::XdpLinkOptions::Mode& mode, std::uint32_t& queues);

/// Describes an XDP link that receives on `interface`, in words: mode, queues, zero-copy.
[[nodiscard]] std::string describe_xdp(const link::XdpSetup& setup, const std::string& interface);

}  // namespace roce::gen
