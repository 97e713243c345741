// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "roce/wire/types.h"

/// Numbers and bytes as text, for the parts of the core that speak text.
namespace roce::text {

/// Two hex digits a byte.
[[nodiscard]] std::string hex(Bytes bytes);
/// `0x` and exactly `digits` hex digits.
[[nodiscard]] std::string hex(std::uint64_t value, std::size_t digits);
[[nodiscard]] std::optional<unsigned> hex_digit(char c);
/// A decimal number, or a hex one behind `0x`; nothing else may stand in `text`.
[[nodiscard]] std::optional<std::uint64_t> number(std::string_view text);
[[nodiscard]] bool equal_ignoring_case(std::string_view a, std::string_view b);

}  // namespace roce::text
