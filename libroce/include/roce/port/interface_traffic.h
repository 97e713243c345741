// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "roce/port/result.h"

namespace roce::port {

/// What an interface says that it has sent, since it is there. Whether that counts MAC control frames, and those that
/// the hardware makes by itself, is up to its driver.
struct InterfaceTraffic {
  std::uint64_t sent_frames = 0;
  std::uint64_t sent_bytes = 0;
  std::uint64_t send_drops = 0;  ///< never sent: a full queue, no carrier, or an error

  friend bool operator==(const InterfaceTraffic&, const InterfaceTraffic&) = default;
};

/// The counters of the interface with this index. Error: it is gone, or the kernel does not tell.
[[nodiscard]] Result<InterfaceTraffic> interface_traffic(std::uint32_t index);

}  // namespace roce::port
