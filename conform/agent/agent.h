// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>

#include "command_line/outcome.h"
#include "conform/agent/verbs_device.h"

namespace roce::conform {

/// The command line of roce-agent.
struct AgentOptions {
  DevicePlace place;
  std::string control;     ///< path of the Unix socket; empty: the default
  std::string listen;      ///< ADDRESS:PORT of TCP instead; empty: none
  std::string token_file;  ///< for TCP
  std::string peer;        ///< the only host that may connect by TCP; empty: any
  std::string memory_limit = "1G";
  std::uint32_t max_qps = 1024;
  bool any_address = false;
  bool json = false;
};

/// Serves the control protocol from a device until SIGINT or SIGTERM.
[[nodiscard]] Outcome<ExitCode> run_agent(const AgentOptions& options);

}  // namespace roce::conform
