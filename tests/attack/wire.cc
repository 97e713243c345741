// SPDX-License-Identifier: BSD-2-Clause
#include "wire.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace roce::attack {

Wire::Wire(const std::string& interface) {
  link::LinkResult<std::unique_ptr<link::RawLink>> link =
      link::RawLink::open({.interface = interface, .filter = "udp port 4791 or ether proto 0x8915"});
  if (!link) throw std::runtime_error(link.error().message);
  link_ = std::move(*link);
}

void Wire::send(std::span<const std::vector<std::byte>> frames, const Handler& handler) {
  constexpr std::size_t batch = 64;
  std::array<link::TxFrame, batch> units;
  while (!frames.empty()) {
    const std::size_t count = std::min(batch, frames.size());
    for (std::size_t i = 0; i < count; ++i) units[i] = {.bytes = frames[i]};
    const link::LinkResult<std::size_t> taken = link_->send(std::span{units}.first(count));
    if (!taken) throw std::runtime_error(taken.error().message);
    sent_ += *taken;
    frames = frames.subspan(*taken);
    receive(std::chrono::milliseconds{*taken == 0 ? 1 : 0}, handler);
  }
}

void Wire::receive(std::chrono::milliseconds patience, const Handler& handler) {
  std::array<link::RxFrame, 64> frames;
  pollfd set{link_->fd(), POLLIN, 0};
  if (patience.count() != 0) (void)::poll(&set, 1, static_cast<int>(patience.count()));
  for (;;) {
    const link::LinkResult<std::size_t> count = link_->receive(frames);
    if (!count) throw std::runtime_error(count.error().message);
    for (const link::RxFrame& frame : std::span{frames}.first(*count)) {
      handler(parse_frame(frame.bytes, LinkType::ethernet));
    }
    if (*count < frames.size()) return;
  }
}

}  // namespace roce::attack
