// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

namespace roce {

/// Returns the largest path MTU (256, 512, 1024, 2048 or 4096 bytes) whose packets fit an interface with this MTU, with
/// all headers that a packet can have. 256 also if not even those fit.
[[nodiscard]] std::uint32_t largest_path_mtu(std::uint32_t interface_mtu);

}  // namespace roce
