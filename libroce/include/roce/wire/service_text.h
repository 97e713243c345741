// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <string_view>

#include "roce/wire/opcode.h"

namespace roce {

/// Returns `RC`, `UC`, `RD`, `UD`, `CNP`, `XRC`, `reserved` or `manufacturer`.
[[nodiscard]] constexpr std::string_view to_string(Service service) {
  constexpr std::array<std::string_view, 8> names{"RC", "UC", "RD", "UD", "CNP", "XRC", "reserved", "manufacturer"};
  return names[static_cast<std::size_t>(service)];
}

}  // namespace roce
