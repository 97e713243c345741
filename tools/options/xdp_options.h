// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "roce/link/xdp_link.h"

namespace roce::command_line {
class Command;
}

namespace roce::options {

/// Adds --xdp-mode and --xdp-queues to a command that has --link.
void add_xdp_options(command_line::Command& command, link::XdpLinkOptions::Mode& mode, std::uint32_t& queues);

}  // namespace roce::options
