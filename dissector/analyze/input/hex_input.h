// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace roce::analyze {

/// Reads frames from hex text as people paste it, in one of two forms:
///   - hex digits in groups of any even size; white space, `:`, `-`, `.`, `,`, `;`, quotes and brackets may separate
///     groups, and `0x` or `\x` may precede them; an empty line begins the next frame;
///   - a dump with an offset column (tcpdump -x, -xx, -XX; xxd; hexdump -C; Wireshark, tshark -x), with or without text
///     beside the digits; offset 0 begins the next frame, lines without an offset are ignored.
/// Error: the line, what was expected and what was found. No returned frame is empty.
[[nodiscard]] tl::expected<std::vector<std::vector<std::byte>>, std::string> parse_hex_frames(std::string_view text);

}  // namespace roce::analyze
