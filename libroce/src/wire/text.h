// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "roce/wire/time.h"
#include "roce/wire/types.h"

/// Numbers and bytes as text, for the parts of the core that read or write text.
namespace roce::text {

/// Returns two hex digits for each byte.
[[nodiscard]] std::string hex(Bytes bytes);
/// Returns `0x` and exactly `digits` hex digits.
[[nodiscard]] std::string hex(std::uint64_t value, std::size_t digits);
[[nodiscard]] std::optional<unsigned> hex_digit(char c);
/// Reads a decimal number, or a hex number with `0x` in front of it; `text` must not contain anything else.
[[nodiscard]] std::optional<std::uint64_t> number(std::string_view text);
/// Reads a whole number of ns, us, ms or s, such as `10us`.
[[nodiscard]] std::optional<Duration> duration(std::string_view text);
[[nodiscard]] bool equal_ignoring_case(std::string_view a, std::string_view b);

}  // namespace roce::text
