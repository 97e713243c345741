// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "roce/link/xdp_link.h"

namespace roce::live {

/// Describes an XDP link that receives on `interface`, in words: mode, queues, zero-copy.
[[nodiscard]] std::string describe_xdp(const link::XdpSetup& setup, const std::string& interface);

}  // namespace roce::live
