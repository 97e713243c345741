// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "roce/impair/rule.h"
#include "wire/text.h"

/// Reads the values of a rule's keys from text. An error states what was expected and what was found.
namespace roce::impair::read {

using Finding = tl::expected<void, std::string>;

[[nodiscard]] tl::unexpected<std::string> expected(std::string_view what, std::string_view found);

/// Reads a number from 0 to `max`.
template <typename T>
[[nodiscard]] Finding number(T& to, std::string_view text, std::uint64_t max = std::numeric_limits<T>::max()) {
  const auto value = text::number(text);
  if (!value || *value > max) return expected("0 … " + std::to_string(max), text);
  to = static_cast<T>(*value);
  return {};
}
[[nodiscard]] Finding boolean(bool& to, std::string_view text);
[[nodiscard]] Finding duration(Duration& to, std::string_view text);

// Each of these reads the value of one key.
[[nodiscard]] Finding direction(Rule& rule, std::string_view text);
[[nodiscard]] Finding dest_qp(Rule& rule, std::string_view text);
[[nodiscard]] Finding opcodes(Rule& rule, std::string_view text);
[[nodiscard]] Finding psn(Rule& rule, std::string_view text);
[[nodiscard]] Finding absolute_psn(Rule& rule, std::string_view text);
[[nodiscard]] Finding transmission(Rule& rule, std::string_view text);
[[nodiscard]] Finding probability(Rule& rule, std::string_view text);
[[nodiscard]] Finding nth(Rule& rule, std::string_view text);
[[nodiscard]] Finding count(Rule& rule, std::string_view text);

}  // namespace roce::impair::read
