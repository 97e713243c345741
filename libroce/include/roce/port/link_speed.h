// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace roce::port {

/// Returns the speed that the driver of an interface reports (ethtool), in bits per second;
/// empty if it reports none, or the cable is out.
[[nodiscard]] std::optional<std::uint64_t> link_speed_bps(const std::string& interface);

}  // namespace roce::port
