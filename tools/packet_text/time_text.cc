// SPDX-License-Identifier: BSD-2-Clause
#include "packet_text/time_text.h"

#include <charconv>
#include <ctime>

namespace roce::packet_text {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// Whole seconds, rounded down, and the remaining nanoseconds.
struct Split {
  std::int64_t seconds;
  std::uint32_t ns;
};
Split split(std::int64_t ns) {
  std::int64_t seconds = ns / kSecond;
  std::int64_t rest = ns % kSecond;
  if (rest < 0) {
    rest += kSecond;
    --seconds;
  }
  return {seconds, static_cast<std::uint32_t>(rest)};
}

void append_fraction(text::TextBuffer& out, std::uint32_t ns, unsigned digits) {
  std::uint32_t value = digits == 9 ? ns : ns / 1000;
  std::array<char, 10> text{};
  text[0] = '.';
  for (unsigned i = digits; i > 0; --i) {
    text[i] = static_cast<char>('0' + value % 10);
    value /= 10;
  }
  text::append(out, {text.data(), digits + 1});
}

/// Removes exactly `digits` decimal digits from the start of `text` and returns their value.
std::optional<int> take_digits(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  int value = 0;
  for (const char c : text.substr(0, digits)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

/// Removes `.digits`, if present, from the start of `text` and returns nanoseconds; digits after the ninth are ignored.
std::optional<std::int64_t> take_fraction(std::string_view& text) {
  if (!take(text, '.')) return 0;
  std::int64_t value = 0;
  std::int64_t unit = kSecond;
  bool any = false;
  for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; text.remove_prefix(1)) {
    any = true;
    unit /= 10;
    value += (text.front() - '0') * unit;
  }
  if (!any) return std::nullopt;
  return value;
}

std::optional<TimeBound> parse_seconds(std::string_view text) {
  const bool negative = take(text, '-');
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || seconds < 0 || seconds > 9'000'000'000) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  const std::optional<std::int64_t> fraction = take_fraction(text);
  if (!fraction || !text.empty()) return std::nullopt;
  constexpr std::int64_t kFirstEpochSecond = 100'000'000;
  const std::int64_t ns = seconds * kSecond + *fraction;
  return TimeBound{negative ? -ns : ns, seconds < kFirstEpochSecond};
}

std::optional<TimeBound> parse_date(std::string_view text) {
  std::tm date{};
  const auto part = [&](std::size_t digits, int& value) {
    const std::optional<int> number = take_digits(text, digits);
    if (number) value = *number;
    return number.has_value();
  };
  if (!part(4, date.tm_year) || !take(text, '-') || !part(2, date.tm_mon) || !take(text, '-') ||
      !part(2, date.tm_mday) || !(take(text, 'T') || take(text, 't') || take(text, ' ')) || !part(2, date.tm_hour) ||
      !take(text, ':') || !part(2, date.tm_min) || !take(text, ':') || !part(2, date.tm_sec)) {
    return std::nullopt;
  }
  const bool in_range = date.tm_mon >= 1 && date.tm_mon <= 12 && date.tm_mday >= 1 && date.tm_mday <= 31 &&
                        date.tm_hour <= 23 && date.tm_min <= 59 && date.tm_sec <= 60;
  // 64 bits of nanoseconds cover these years.
  if (!in_range || date.tm_year < 1970 || date.tm_year > 2261) return std::nullopt;
  const std::optional<std::int64_t> fraction = take_fraction(text);
  if (!fraction) return std::nullopt;
  std::int64_t zone = 0;
  if (!text.empty() && !take(text, 'Z') && !take(text, 'z')) {
    const int sign = text.front() == '-' ? -1 : 1;
    if (!take(text, '-') && !take(text, '+')) return std::nullopt;
    int hours = 0;
    int minutes = 0;
    if (!part(2, hours) || !take(text, ':') || !part(2, minutes) || hours > 23 || minutes > 59) return std::nullopt;
    zone = sign * (hours * 3600 + minutes * 60);
  }
  if (!text.empty()) return std::nullopt;
  date.tm_year -= 1900;
  date.tm_mon -= 1;
  return TimeBound{(static_cast<std::int64_t>(timegm(&date)) - zone) * kSecond + *fraction, false};
}

}  // namespace

void append_seconds(text::TextBuffer& out, std::int64_t ns, unsigned digits, std::size_t width) {
  const bool negative = ns < 0;
  // The smallest number does not have a positive counterpart in 64 signed bits.
  const std::uint64_t magnitude = negative ? ~static_cast<std::uint64_t>(ns) + 1 : static_cast<std::uint64_t>(ns);
  const fmt::format_int seconds{magnitude / kSecond};
  const std::size_t size = seconds.size() + (negative ? 1 : 0) + 1 + digits;
  if (size < width) text::append_spaces(out, width - size);
  if (negative) out.push_back('-');
  text::append(out, {seconds.data(), seconds.size()});
  append_fraction(out, static_cast<std::uint32_t>(magnitude % kSecond), digits);
}

void UtcText::append(text::TextBuffer& out, std::int64_t ns, unsigned digits) {
  const Split time = split(ns);
  if (time.seconds != second_) {
    second_ = time.seconds;
    const auto seconds = static_cast<std::time_t>(time.seconds);
    std::tm date{};
    gmtime_r(&seconds, &date);
    size_ = std::strftime(text_.data(), text_.size(), "%Y-%m-%dT%H:%M:%S", &date);
  }
  text::append(out, {text_.data(), size_});
  append_fraction(out, time.ns, digits);
  out.push_back('Z');
}

std::optional<TimeBound> parse_time(std::string_view text) {
  if (const std::optional<TimeBound> seconds = parse_seconds(text)) return seconds;
  return parse_date(text);
}

}  // namespace roce::packet_text
