// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "roce/wire/time.h"
#include "wire/text.h"

/// Reads the values of parameters. Each returns what it expected, if the text is something else.
namespace roce::congestion::read {

using Text = std::string_view;
using Expected = std::optional<std::string>;

/// Reads a whole number from `least` to `most`.
template <typename T>
[[nodiscard]] Expected number(T& to, Text text, std::uint64_t least = 0,
                              std::uint64_t most = std::numeric_limits<T>::max()) {
  const auto value = text::number(text);
  if (!value || *value < least || *value > most) return std::to_string(least) + " … " + std::to_string(most);
  to = static_cast<T>(*value);
  return {};
}
/// Reads a number above 0, up to 1.
[[nodiscard]] Expected fraction(double& to, Text text);
/// Reads a time from 1 us to 1 s.
[[nodiscard]] Expected period(Duration& to, Text text);
/// Reads a rate from 1 Mbit/s to 10 Tbit/s, such as 2.5Gbit.
[[nodiscard]] Expected rate(std::uint64_t& to, Text text);
/// Reads true or false, 0 or 1.
[[nodiscard]] Expected boolean(bool& to, Text text);

}  // namespace roce::congestion::read
