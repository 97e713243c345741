// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "roce/port/interfaces.h"

namespace roce::port {

/// What an RTM_NEWLINK message says of an interface, without addresses. None if the message is malformed.
[[nodiscard]] std::optional<Interface> read_interface(Bytes body);

/// What an RTM_NEWADDR message says: the index of the interface, and the address. None if the message is malformed or
/// of another family than IPv4 and IPv6.
[[nodiscard]] std::optional<std::pair<std::uint32_t, InterfaceAddress>> read_address(Bytes body);

}  // namespace roce::port
