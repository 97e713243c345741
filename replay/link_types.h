// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "roce/wire/packet.h"

namespace roce::replay {

/// The link type of a record as the codec knows it; none for one that it does not follow.
[[nodiscard]] std::optional<LinkType> known_link_type(std::uint16_t number);

/// What to say of a file with another one.
[[nodiscard]] std::string unknown_link_type(const std::string& file, std::uint16_t number);

}  // namespace roce::replay
