// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "fabric/egress.h"
#include "roce/fabric/config.h"

namespace roce::fabric::detail {

/// Bytes that came in at one port of a switch and are in its buffer, by priority. They are taken from the reserve of
/// port and priority first, then from what all share, then from the headroom, and given back in the opposite order.
struct Ingress {
  std::array<std::uint64_t, kPriorities> held{};      ///< bytes, those in the headroom included
  std::array<std::uint64_t, kPriorities> headroom{};  ///< bytes in the headroom
  std::uint64_t most_headroom = 0;                    ///< bytes of headroom of each lossless priority
  std::uint8_t stopped = 0;                           ///< bit p: the sender was told to stop priority p

  /// Returns the bytes of a priority in the buffer that all share.
  [[nodiscard]] std::uint64_t shared(std::uint32_t priority, std::uint64_t reserve) const {
    const std::uint64_t main = held[priority] - headroom[priority];
    return main > reserve ? main - reserve : 0;
  }
};

/// The buffer that the ports of a switch share.
class SharedBuffer {
 public:
  /// `shared`: bytes beside reserves and headrooms.
  SharedBuffer(const SwitchConfig& config, std::uint64_t shared);

  /// Takes room for a frame. False: there is none, and the frame is dropped.
  [[nodiscard]] bool admit(Ingress& ingress, std::uint32_t priority, std::uint32_t size);
  void release(Ingress& ingress, std::uint32_t priority, std::uint32_t size);
  /// Sets `stopped` of a priority as thresholds say. True if it has changed.
  bool judge(Ingress& ingress, std::uint32_t priority) const;
  [[nodiscard]] bool is_lossless(std::uint32_t priority) const { return (lossless_ & bit_of(priority)) != 0; }

 private:
  [[nodiscard]] std::uint64_t free() const { return shared_ > used_ ? shared_ - used_ : 0; }
  /// Returns the bytes that a port has for a priority before it takes from the shared buffer.
  [[nodiscard]] std::uint64_t reserve_of(std::uint32_t priority) const { return is_lossless(priority) ? reserve_ : 0; }
  /// Returns the bytes of shared buffer from which on a lossless priority of a port is stopped.
  [[nodiscard]] std::uint64_t threshold() const {
    return xoff_ != 0 ? xoff_ : static_cast<std::uint64_t>(alpha_ * static_cast<double>(free()));
  }

  std::uint64_t shared_;
  std::uint64_t used_ = 0;
  std::uint64_t reserve_ = 0;
  double lossy_alpha_;
  std::uint64_t xoff_ = 0;  ///< 0: by `alpha_`
  double alpha_ = 0;
  std::uint64_t xon_offset_ = 0;
  std::uint8_t lossless_ = 0;
};

}  // namespace roce::fabric::detail
