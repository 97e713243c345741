// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>

namespace roce::verbs {

/// The most bytes that one piece of device memory can have.
inline constexpr std::size_t kMostDeviceMemory = std::size_t{1} << 20U;

}  // namespace roce::verbs
