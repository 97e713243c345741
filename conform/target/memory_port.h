// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "conform/target/target.h"
#include "roce/link/memory_link.h"
#include "roce/port/port.h"

namespace roce::conform {

/// A port between a device in memory and the tester: what PAUSE and PFC frames hold is held here.
class MemoryPort {
 public:
  /// Makes the port of a device, which has to outlive it.
  explicit MemoryPort(transport::Device& device);

  /// Hands a frame to the port.
  void receive(std::span<const std::byte> frame, Time now);
  /// Adds what the device sends now to `sent`.
  void collect(std::deque<SeenFrame>& sent, Time now);
  [[nodiscard]] Time next_timeout() const { return port_.next_timeout(); }
  [[nodiscard]] std::optional<transport::Event> poll_event(Time now) { return port_.poll_event(now); }

 private:
  link::MemoryLink::Pair ends_;  ///< the device's, and the tester's
  port::Port port_;
};

}  // namespace roce::conform
