// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <tl/expected.hpp>

#include "verbs/devices/places.h"

namespace roce::verbs {

/// Writes below `root` what programs look for at `/sys/class/infiniband`, `/sys/class/infiniband_verbs` and
/// `/dev/infiniband`, for devices in this order. What is there already and the same stays as it is, so that programs
/// that read it are not disturbed; devices that are no more go. Error: a sentence with the file.
[[nodiscard]] tl::expected<void, std::string> write_device_tree(const std::filesystem::path& root,
                                                                std::span<const Place> places);

}  // namespace roce::verbs
