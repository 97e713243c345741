// SPDX-License-Identifier: BSD-2-Clause
#include "replay/send/start_time.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <ctime>
#include <optional>
#include <string_view>

namespace roce::replay {

namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
// Longer than anybody waits, and less than half of what a Duration can hold.
constexpr std::int64_t kMostSeconds = 4'000'000'000;

/// Parses seconds with or without a fraction, to the nanosecond: a double has too few digits for a time of day.
[[nodiscard]] std::optional<Duration> parse_seconds(std::string_view text) {
  std::int64_t whole = 0;
  const char* const end = text.data() + text.size();
  const auto [dot, error] = std::from_chars(text.data(), end, whole);
  if (error != std::errc{} || whole < 0 || whole > kMostSeconds) return std::nullopt;
  if (dot == end) return Duration{whole * kNsPerSecond};
  double fraction = 0;
  const auto [stop, wrong] = std::from_chars(dot, end, fraction, std::chars_format::fixed);
  if (*dot != '.' || wrong != std::errc{} || stop != end) return std::nullopt;
  return Duration{whole * kNsPerSecond + std::llround(fraction * kNsPerSecond)};
}

[[nodiscard]] std::optional<Duration> parse_date(const std::string& text) {
  std::tm date{};
  const char* const rest = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &date);
  if (rest == nullptr || text.back() != 'Z') return std::nullopt;
  const std::string_view fraction{rest, static_cast<std::size_t>(text.data() + text.size() - 1 - rest)};
  const std::optional<Duration> part = parse_seconds("0" + std::string{fraction});
  if (!part || *part >= Duration{kNsPerSecond}) return std::nullopt;
  return Duration{::timegm(&date) * kNsPerSecond} + *part;
}

}  // namespace

Outcome<Duration> time_until(const std::string& text, std::int64_t now_ns) {
  std::optional<Duration> wait;
  if (text.starts_with('+')) {
    wait = parse_seconds(std::string_view{text}.substr(1));
  } else {
    wait = text.find('T') == std::string::npos ? parse_seconds(text) : parse_date(text);
    if (wait) *wait -= Duration{now_ns};
  }
  if (!wait) {
    return cannot(
        fmt::format("--start-at: expected +SECONDS, seconds since 1970, or a time such as 2026-11-22T12:00:00Z (UTC), "
                    "found \"{}\"",
                    text));
  }
  if (*wait < Duration{0}) {
    return cannot(
        fmt::format("--start-at {}: that was {:.3f} s ago", text, -std::chrono::duration<double>(*wait).count()));
  }
  return *wait;
}

}  // namespace roce::replay
