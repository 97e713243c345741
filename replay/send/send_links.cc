// SPDX-License-Identifier: BSD-2-Clause
#include "replay/send/send_links.h"

#include <fmt/format.h>

#include <utility>

#include "replay/send/datagram_link.h"
#include "roce/link/raw_link.h"
#include "roce/link/xdp_link.h"
#include "roce/port/interfaces.h"

namespace roce::replay {

namespace {

// Nothing is received, but the kernel does not accept a smaller ring.
constexpr std::size_t kRingBytes = 1 << 20;

}  // namespace

Outcome<SendLinks> SendLinks::open(const SendOptions& options) {
  SendLinks links;
  if (Outcome<void> opened = links.open_one(options, options.interface); !opened) {
    return tl::unexpected(opened.error());
  }
  if (!options.other_interface.empty()) {
    if (options.other_interface == options.interface) {
      return cannot(fmt::format("-i and -I are both {}; one interface sends both sides without -I", options.interface));
    }
    if (Outcome<void> opened = links.open_one(options, options.other_interface); !opened) {
      return tl::unexpected(opened.error());
    }
  }
  // The socket of a UDP link holds the port.
  if (options.link != SendLink::udp) links.port_holder_ = std::make_unique<link::PortHolder>();
  return links;
}

Outcome<void> SendLinks::open_one(const SendOptions& options, const std::string& name) {
  const port::Result<port::Interface> interface = port::find_interface(name);
  if (!interface) return cannot(interface.error().message);
  if (!interface->up) return cannot(fmt::format("{} is down; ip link set {} up", name, name));
  std::string how;
  std::unique_ptr<link::Link> opened;
  if (options.link == SendLink::udp) {
    Outcome<std::unique_ptr<DatagramLink>> link = DatagramLink::open(*interface);
    if (!link) return tl::unexpected(link.error());
    how = fmt::format("UDP on {}", name);
    addresses_.push_back((*link)->addresses());
    opened = std::move(*link);
  } else if (options.link == SendLink::xdp) {
    link::XdpLinkOptions xdp;
    xdp.interface = name;
    xdp.mode = options.xdp_mode;
    xdp.queues = 1;
    xdp.ring_bytes = kRingBytes;
    auto link = link::XdpLink::open(xdp);
    if (!link) return cannot(link.error().message);
    how = fmt::format("AF_XDP on {}, {} mode", name,
                      (*link)->setup().mode == link::XdpMode::native ? "native" : "generic");
    opened = std::move(*link);
  } else {
    link::RawLinkOptions raw;
    raw.interface = name;
    raw.sends_only = true;
    auto link = link::RawLink::open(raw);
    if (!link) return cannot(link.error().message);
    how = fmt::format("raw packet socket on {}", name);
    opened = std::move(*link);
  }
  description_ += description_.empty() ? how : " and " + how;
  links_.push_back({std::move(opened), name});
  return {};
}

std::vector<SendLine> SendLinks::lines() const {
  std::vector<SendLine> lines;
  lines.reserve(links_.size());
  for (const Opened& opened : links_) lines.push_back({opened.link.get(), opened.interface});
  return lines;
}

}  // namespace roce::replay
