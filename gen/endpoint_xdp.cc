// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include "gen/endpoint.h"
#include "roce/link/xdp_link.h"

namespace roce::gen {

namespace {

[[nodiscard]] std::string describe(const link::XdpSetup& setup, const std::string& interface) {
  std::string text =
      fmt::format("AF_XDP on {}, {} mode", interface, setup.mode == link::XdpMode::native ? "native" : "generic");
  if (!setup.why_generic.empty()) text += fmt::format(" (native is not possible: {})", setup.why_generic);
  if (setup.interface_queues > 1) text += fmt::format(", {} of {} queues", setup.queues, setup.interface_queues);
  if (setup.zero_copy) text += ", zero-copy";
  return text;
}

}  // namespace

Outcome<void> Endpoint::open_xdp(const EndpointOptions& options, const std::string& copies) {
  link::XdpLinkOptions xdp;
  xdp.interface = options.interface;
  xdp.mode = options.xdp_mode;
  xdp.queues = options.xdp_queues;
  xdp.mac_control = true;
  xdp.copies = copies;
  xdp.all_multicast = options.all_multicast || own_address_ != nullptr;
  link::LinkResult<std::unique_ptr<link::XdpLink>> opened = link::XdpLink::open(xdp);
  if (!opened) return cannot(opened.error().message);
  const link::XdpSetup& setup = (*opened)->setup();
  description_ = describe(setup, options.interface);
  // RoCE on the other queues reaches the kernel.
  if (own_address_ == nullptr && setup.queues < setup.interface_queues) port_holder_.emplace();
  link_ = std::move(*opened);
  return {};
}

}  // namespace roce::gen
