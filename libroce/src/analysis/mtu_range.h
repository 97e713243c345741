// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

namespace roce::analysis {

/// The least and the greatest path MTU, in bytes.
inline constexpr std::uint32_t kLeastMtu = 256;
inline constexpr std::uint32_t kMostMtu = 4096;

}  // namespace roce::analysis
