// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>

#include "roce/wire/types.h"

namespace roce::port {

/// Returns the GID of an IPv4 or IPv6 address as people write it; none if the text is not one.
[[nodiscard]] std::optional<Gid> parse_ip(const std::string& text);

/// Parses `02:00:00:00:00:01`; none if the text is not an Ethernet address.
[[nodiscard]] std::optional<MacAddress> parse_mac(const std::string& text);

}  // namespace roce::port
