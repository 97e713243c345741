// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace roce::port {

/// The speed that the driver of an interface tells (ethtool), in bits a second; none where it does not, or the cable is
/// out.
[[nodiscard]] std::optional<std::uint64_t> link_speed_bps(const std::string& interface);

}  // namespace roce::port
