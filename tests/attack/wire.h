// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "roce/link/port_holder.h"
#include "roce/link/raw_link.h"
#include "roce/wire/packet.h"

namespace roce::attack {

/// Our end of the wire to the peer.
class Wire {
 public:
  using Handler = std::function<void(const Packet&)>;

  /// Opens a packet socket. Throws runtime_error where that is not allowed.
  explicit Wire(const std::string& interface);

  /// Sends frames in their order, and passes frames that arrive meanwhile to the handler.
  void send(std::span<const std::vector<std::byte>> frames, const Handler& handler);
  /// Passes the frames that have arrived to the handler; waits up to `patience` if there are none.
  void receive(std::chrono::milliseconds patience, const Handler& handler);

  [[nodiscard]] std::uint64_t sent() const { return sent_; }
  [[nodiscard]] link::LinkCounters counters() const { return link_->counters(); }

 private:
  link::PortHolder holder_;  // keeps our kernel from telling the peer that nobody listens
  std::unique_ptr<link::RawLink> link_;
  std::uint64_t sent_ = 0;
};

}  // namespace roce::attack
