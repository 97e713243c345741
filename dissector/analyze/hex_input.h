// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace roce::analyze {

/// Reads frames from hex text as people paste it. Two forms:
///   - hex digits, in groups of any even size, between which may stand white space, `:`, `-`, `.`, `,`, `;`, quotes and
///     brackets, and in front of which `0x` or `\x`; an empty line begins the next frame;
///   - a dump with an offset column (tcpdump -x, -xx, -XX; xxd; hexdump -C; Wireshark, tshark -x), with or without text
///     beside the digits; offset 0 begins the next frame, lines without an offset are passed over.
/// Error: the line, what was expected and what was found. Never gives a frame without bytes.
[[nodiscard]] tl::expected<std::vector<std::vector<std::byte>>, std::string> parse_hex_frames(std::string_view text);

}  // namespace roce::analyze
