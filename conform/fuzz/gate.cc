// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/gate.h"

#include <algorithm>
#include <thread>

namespace roce::conform::fuzz {

bool Gate::send(Target& target, std::span<const std::byte> frame) {
  if (!target.may_send(frame)) return false;
  if (frames_a_second_ != 0) {
    using Clock = std::chrono::steady_clock;
    std::this_thread::sleep_until(next_);
    // Time that nobody used is not saved up for a burst.
    next_ = std::max(next_, Clock::now()) + Clock::duration{std::chrono::seconds{1}} / frames_a_second_;
  }
  target.send(frame);
  return true;
}

}  // namespace roce::conform::fuzz
