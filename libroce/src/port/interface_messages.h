// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "roce/port/interfaces.h"

namespace roce::port {

/// Reads an interface, without addresses, from an RTM_NEWLINK message; nullopt if that is malformed.
[[nodiscard]] std::optional<Interface> read_interface(Bytes body);

/// Reads the index of the interface, and the address, from an RTM_NEWADDR message; nullopt if that is malformed or of
/// another family than IPv4 and IPv6.
[[nodiscard]] std::optional<std::pair<std::uint32_t, InterfaceAddress>> read_address(Bytes body);

}  // namespace roce::port
