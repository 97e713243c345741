// SPDX-License-Identifier: BSD-2-Clause
#include "roce/link/xdp_link.h"
#include "roce/live/endpoint.h"
#include "roce/live/xdp_text.h"

namespace roce::live {

Result<void> Endpoint::open_xdp(const EndpointOptions& options, const std::string& copies) {
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
  description_ = describe_xdp(setup, options.interface);
  // RoCE packets of the other queues reach the kernel, which must not answer that the port is unreachable.
  if (own_address_ == nullptr && setup.queues < setup.interface_queues) port_holder_.emplace();
  link_ = std::move(*opened);
  return {};
}

}  // namespace roce::live
