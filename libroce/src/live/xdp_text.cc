// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/xdp_text.h"

#include <fmt/format.h>

namespace roce::live {

std::string describe_xdp(const link::XdpSetup& setup, const std::string& interface) {
  std::string text =
      fmt::format("AF_XDP on {}, {} mode", interface, setup.mode == link::XdpMode::native ? "native" : "generic");
  if (!setup.why_generic.empty()) text += fmt::format(" (native is not possible: {})", setup.why_generic);
  if (setup.interface_queues > 1) text += fmt::format(", {} of {} queues", setup.queues, setup.interface_queues);
  if (setup.zero_copy) text += ", zero-copy";
  return text;
}

}  // namespace roce::live
