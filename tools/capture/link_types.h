// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "roce/wire/packet.h"

namespace roce::capture {

/// Returns the codec's link type for that of a record; none if the codec does not follow it.
[[nodiscard]] std::optional<LinkType> known_link_type(std::uint16_t number);

/// Returns the error message for a file with a link type that is not known.
[[nodiscard]] std::string unknown_link_type(const std::string& file, std::uint16_t number);

}  // namespace roce::capture
