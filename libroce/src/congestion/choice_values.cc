// SPDX-License-Identifier: BSD-2-Clause
#include "congestion/choice_values.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace roce::congestion::read {

Expected fraction(double& to, Text text) {
  const char* const end = text.data() + text.size();
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || rest != end || !(value > 0 && value <= 1)) return "a number above 0 and up to 1";
  to = value;
  return {};
}

Expected period(Duration& to, Text text) {
  constexpr Duration shortest = std::chrono::microseconds{1};
  constexpr Duration longest = std::chrono::seconds{1};
  const std::optional<Duration> value = text::duration(text);
  if (!value || *value < shortest || *value > longest) return "a time from 1us to 1s";
  to = *value;
  return {};
}

Expected rate(std::uint64_t& to, Text text) {
  constexpr std::array<std::pair<Text, double>, 3> units{{{"Gbit", 1e9}, {"Mbit", 1e6}, {"kbit", 1e3}}};
  constexpr double least = 1e6;
  constexpr double most = 1e13;
  for (const auto& [unit, factor] : units) {
    if (!text.ends_with(unit)) continue;
    const char* const end = text.data() + text.size() - unit.size();
    double value = 0;
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    value *= factor;
    if (error != std::errc{} || rest != end || !(value >= least && value <= most)) break;
    to = static_cast<std::uint64_t>(std::llround(value));
    return {};
  }
  return "a rate from 1Mbit to 10000Gbit, such as 2.5Gbit";
}

Expected boolean(bool& to, Text text) {
  const bool is_true = text::equal_ignoring_case(text, "true") || text == "1";
  if (!is_true && !text::equal_ignoring_case(text, "false") && text != "0") return "true or false";
  to = is_true;
  return {};
}

}  // namespace roce::congestion::read
