// SPDX-License-Identifier: BSD-2-Clause
#include "runtime/rate.h"

#include <charconv>
#include <string_view>
#include <system_error>

namespace roce::runtime {

Outcome<Rate> parse_rate(const std::string& text) {
  double value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value, std::chars_format::fixed);
  const std::string_view unit{end, static_cast<std::size_t>(last - end)};
  double factor = 0;
  if (unit == "Gbit" || unit == "Gpps") factor = 1e9;
  if (unit == "Mbit" || unit == "Mpps") factor = 1e6;
  if (unit == "kbit" || unit == "kpps") factor = 1e3;
  if (unit == "pps") factor = 1;
  const double rate = value * factor;
  if (error != std::errc{} || factor == 0 || !(rate >= 1) || rate > 1e15) {
    return cannot("\"" + text + "\" is no rate; write it like 2.5Gbit, 800Mbit, 100kpps or 5000pps");
  }
  const auto whole = static_cast<std::uint64_t>(rate);
  return unit.ends_with("pps") ? Rate{.bps = 0, .pps = whole} : Rate{.bps = whole, .pps = 0};
}

}  // namespace roce::runtime
