// SPDX-License-Identifier: BSD-2-Clause
#include "gen/xdp_options.h"

#include <fmt/format.h>

#include "command_line/command.h"

namespace roce::gen {

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

std::string describe_xdp(const link::XdpSetup& setup, const std::string& interface) {
  std::string text =
      fmt::format("AF_XDP on {}, {} mode", interface, setup.mode == link::XdpMode::native ? "native" : "generic");
  if (!setup.why_generic.empty()) text += fmt::format(" (native is not possible: {})", setup.why_generic);
  if (setup.interface_queues > 1) text += fmt::format(", {} of {} queues", setup.queues, setup.interface_queues);
  if (setup.zero_copy) text += ", zero-copy";
  return text;
}

}  // namespace roce::gen
