// SPDX-License-Identifier: BSD-2-Clause
#include "text/human_units.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <span>

namespace roce::text {

namespace {

struct Unit {
  double size;
  std::string_view name;
};

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr double kMinuteNs = 60e9;

constexpr std::array kTimes{Unit{1, "ns"},
                            Unit{1e3, "us"},
                            Unit{1e6, "ms"},
                            Unit{1e9, "s"},
                            Unit{kMinuteNs, "min"},
                            Unit{60 * kMinuteNs, "h"},
                            Unit{1440 * kMinuteNs, "d"}};
constexpr std::array kDecimal{Unit{1, ""},     Unit{1e3, "k"},  Unit{1e6, "M"}, Unit{1e9, "G"},
                              Unit{1e12, "T"}, Unit{1e15, "P"}, Unit{1e18, "E"}};
constexpr double kKi = 1024;
constexpr std::array kBinary{Unit{1, "B"},
                             Unit{kKi, "KiB"},
                             Unit{kKi * kKi, "MiB"},
                             Unit{kKi * kKi * kKi, "GiB"},
                             Unit{kKi * kKi * kKi * kKi, "TiB"},
                             Unit{kKi * kKi * kKi * kKi * kKi, "PiB"},
                             Unit{kKi * kKi * kKi * kKi * kKi * kKi, "EiB"}};

// From these values on, rounding would give another digit before the point.
constexpr double kTwoDecimals = 9.995;
constexpr double kOneDecimal = 99.95;

/// Formats with three significant digits; more only before the point.
std::string three_digits(double value) {
  if (value < kTwoDecimals) return fmt::format("{:.2f}", value);
  return value < kOneDecimal ? fmt::format("{:.1f}", value) : fmt::format("{:.0f}", value);
}

/// Returns the value as `three_digits` shows it.
double rounded(double value) {
  const double places = value < kTwoDecimals ? 100 : value < kOneDecimal ? 10 : 1;
  return std::round(value * places) / places;
}

/// Returns the index of the largest unit of which the value, rounded to three digits, is at least one. Values of the
/// smallest unit are integers and not rounded.
std::size_t choose_unit(double value, std::span<const Unit> units) {
  std::size_t unit = 0;
  while (unit + 1 < units.size()) {
    const double step = units[unit + 1].size / units[unit].size;
    const double here = value / units[unit].size;
    if ((unit == 0 ? here : rounded(here)) < step) break;
    ++unit;
  }
  return unit;
}

std::string scaled_text(double value, std::span<const Unit> units, std::string_view suffix) {
  const std::size_t index = choose_unit(value, units);
  const Unit& unit = units[index];
  std::string number = index == 0 ? fmt::format("{:.0f}", value) : three_digits(value / unit.size);
  if (unit.name.empty() && suffix.empty()) return number;
  return fmt::format("{} {}{}", number, unit.name, suffix);
}

/// Formats a rate; one below a thousand keeps its decimal places, if it has any.
std::string rate_with(double per_second, std::string_view suffix) {
  if (!std::isfinite(per_second) || per_second < 0) return "-";
  constexpr double kSlowest = 0.005;
  constexpr double kThousand = 999.5;
  if (per_second == 0 || per_second >= kThousand || per_second == std::floor(per_second)) {
    return scaled_text(std::round(per_second), kDecimal, suffix);
  }
  if (per_second < kSlowest) return fmt::format("<0.01 {}", suffix);
  return fmt::format("{} {}", three_digits(per_second), suffix);
}

/// Returns the nanoseconds of a unit, 0 for an unknown name.
std::int64_t unit_ns(std::string_view name) {
  if (name.empty()) return kSecond;
  if (name == "µs" || name == "μs") return 1000;
  for (const Unit& unit : kTimes) {
    if (unit.name == name) return static_cast<std::int64_t>(unit.size);
  }
  return 0;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

std::string duration_text(std::int64_t ns) {
  const std::string text = scaled_text(std::fabs(static_cast<double>(ns)), kTimes, {});
  return ns < 0 ? "-" + text : text;
}

std::string count_text(std::uint64_t count) {
  constexpr std::uint64_t kExact = 10'000;
  if (count < 1000) return fmt::format("{}", count);
  if (count < kExact) return fmt::format("{},{:03}", count / 1000, count % 1000);
  return scaled_text(static_cast<double>(count), kDecimal, {});
}

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return count_text(count).append(" ").append(count == 1 ? one : many);
}

std::string bytes_text(std::uint64_t bytes) {
  return scaled_text(static_cast<double>(bytes), kBinary, {});
}

std::string bit_rate_text(double bits_per_second) {
  return rate_with(bits_per_second, "bit/s");
}

std::string rate_text(double per_second) {
  return rate_with(per_second, "/s");
}

std::string percent_text(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "-";
  if (part == 0) return "0 %";
  if (part >= whole) return "100 %";
  const double percent = 100 * (static_cast<double>(part) / static_cast<double>(whole));
  constexpr double kSmallest = 0.001;
  constexpr double kLargest = 99.9;
  if (percent < kSmallest) return "<0.001 %";
  if (percent > kLargest) return percent > 99.999 ? ">99.999 %" : fmt::format("{:.3f} %", percent);
  constexpr double kOne = 0.9995;
  return percent < kOne ? fmt::format("{:.3f} %", percent) : fmt::format("{} %", three_digits(percent));
}

std::optional<std::int64_t> parse_duration(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  if (text.empty() || !is_digit(text[0])) return std::nullopt;
  std::int64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  std::string_view digits;
  if (text.starts_with('.')) {
    std::size_t size = 1;
    while (size < text.size() && is_digit(text[size])) ++size;
    digits = text.substr(1, size - 1);
    if (digits.empty()) return std::nullopt;
    text.remove_prefix(size);
  }
  if (text.size() > 1 && text[0] == ' ') text.remove_prefix(1);
  const std::int64_t unit = unit_ns(text);
  std::int64_t ns = 0;
  if (unit == 0 || __builtin_mul_overflow(whole, unit, &ns)) return std::nullopt;
  std::int64_t place = unit;
  std::int64_t fraction = 0;
  for (const char digit : digits) {
    place /= 10;
    fraction += (digit - '0') * place;
  }
  if (__builtin_add_overflow(ns, fraction, &ns)) return std::nullopt;
  return negative ? -ns : ns;
}

namespace {

/// Reads a decimal number, one space or none, and a prefix of kMGT; leaves the rest in `text`. Nothing if there is no
/// such number, or if it is below 1 or above 1e15.
std::optional<std::uint64_t> take_scaled(std::string_view& text) {
  constexpr std::string_view kPrefixes = "kMGT";
  constexpr double kMost = 1e15;
  if (text.empty() || !is_digit(text[0])) return std::nullopt;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.size() > 1 && text[0] == ' ') text.remove_prefix(1);
  if (const std::size_t prefix = text.empty() ? text.npos : kPrefixes.find(text[0]); prefix != text.npos) {
    text.remove_prefix(1);
    number *= std::pow(1000.0, static_cast<double>(prefix + 1));
  }
  if (number < 1 || number > kMost) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(number));
}

}  // namespace

std::optional<std::uint64_t> parse_bit_rate(std::string_view text) {
  const bool has_prefix = text.find_first_of("kMGT") != text.npos;
  const std::optional<std::uint64_t> rate = take_scaled(text);
  if (text.empty() ? has_prefix : text == "bit" || text == "bit/s") return rate;
  return std::nullopt;
}

std::optional<std::uint64_t> parse_packet_rate(std::string_view text) {
  const std::optional<std::uint64_t> rate = take_scaled(text);
  return text == "pps" ? rate : std::nullopt;
}

}  // namespace roce::text
