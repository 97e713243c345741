// SPDX-License-Identifier: BSD-2-Clause
#include "options/xdp_options.h"

#include "command_line/command.h"

namespace roce::options {

void add_xdp_options(command_line::Command& command, link::XdpLinkOptions::Mode& mode, std::uint32_t& queues) {
  using Mode = link::XdpLinkOptions::Mode;
  command
      .add_choice("--xdp-mode", mode, {{"auto", Mode::automatic}, {"native", Mode::native}, {"generic", Mode::generic}},
                  "Where the program of --link xdp runs: native (in the driver), generic (behind it), or auto: native "
                  "if the driver can")
      .default_str("auto")
      .type_name("MODE");
  command
      .add_option("--xdp-queues", queues,
                  "With --link xdp: listen on the first N receive queues only (default: all that the interface has)")
      .positive()
      .type_name("N");
}

}  // namespace roce::options
