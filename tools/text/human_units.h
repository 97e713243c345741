// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace roce::text {

// Quantities for people: three significant digits and a unit, so that a column of them is easy to read. For a fixed
// width, use `append_right` with the width that is given here.

/// `0 ns`, `850 ns`, `12.3 us`, `4.56 ms`, `1.20 s`, `12.3 min`, `5.00 h`, `3.20 d`, `-1.50 ms`. At most 9 characters.
[[nodiscard]] std::string duration_text(std::int64_t ns);
/// `0`, `999`, `9,999`, then `12.3 k`, `1.20 M`, `3.40 G`, `18.4 E`. At most 6 characters.
[[nodiscard]] std::string count_text(std::uint64_t count);
/// Returns `1 frame`, `12.3 k frames`: the number is formatted by `count_text`.
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view one, std::string_view many);
/// `0 B`, `1023 B`, `1.00 KiB`, `3.40 GiB`, `16.0 EiB`. At most 8 characters.
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);
/// `0 bit/s`, `<0.01 bit/s`, `950 bit/s`, `12.3 Gbit/s`. At most 11 characters below 1000 Ebit/s. `-` if the value is
/// negative, infinite or not a number.
[[nodiscard]] std::string bit_rate_text(double bits_per_second);
/// A rate of events: `0 /s`, `0.25 /s`, `1.20 M/s`. At most 8 characters below 1000 E/s. `-` as above.
[[nodiscard]] std::string rate_text(double per_second);
/// `0 %`, `<0.001 %`, `0.010 %`, `12.3 %`, `99.950 %`, `>99.999 %`, `100 %`: 0 and 100 are shown only if exact. At
/// most 9 characters. `-` if `whole` is 0. A `part` above `whole` counts as all of it.
[[nodiscard]] std::string percent_text(std::uint64_t part, std::uint64_t whole);

/// Reads `10us`, `1.5ms`, `2s`, `0.25`: a decimal number with a unit (ns, us, ms, s, min, h, d) or, without one, in
/// seconds; one space may separate the two. Returns nanoseconds, truncated; nothing for any other text and for values
/// beyond 64 bits.
[[nodiscard]] std::optional<std::int64_t> parse_duration(std::string_view text);

/// Reads `100G`, `2.5Gbit`, `400 Gbit/s`, `10000M`, `64kbit`: a decimal number with a prefix (k, M, G, T), with
/// `bit` or `bit/s` behind it, or with one of the two. Returns bits per second; nothing for any other text, for less
/// than 1 bit/s and for more than 1000 Tbit/s.
[[nodiscard]] std::optional<std::uint64_t> parse_bit_rate(std::string_view text);

/// Reads `5000pps`, `100kpps`, `1.5 Mpps`. Returns packets per second, with the limits of `parse_bit_rate`.
[[nodiscard]] std::optional<std::uint64_t> parse_packet_rate(std::string_view text);

}  // namespace roce::text
