// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "roce/port/result.h"

namespace roce::port {

/// The traffic that an interface reports as sent since it exists.
/// It is up to the driver whether MAC control frames are counted, and frames that the hardware makes by itself.
struct InterfaceTraffic {
  std::uint64_t sent_frames = 0;
  std::uint64_t sent_bytes = 0;
  std::uint64_t send_drops = 0;  ///< never sent: a full queue, no carrier, or an error

  friend bool operator==(const InterfaceTraffic&, const InterfaceTraffic&) = default;
};

/// Returns the counters of the interface with this index. Error: it is gone, or the kernel does not report them.
[[nodiscard]] Result<InterfaceTraffic> interface_traffic(std::uint32_t index);

}  // namespace roce::port
