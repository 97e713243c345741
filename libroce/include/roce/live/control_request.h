// SPDX-License-Identifier: BSD-2-Clause
// The members of a control request, checked as they are read.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "roce/json_input/json_input.h"

namespace roce::live {

/// Thrown by all functions below for a member that a request cannot have; the text goes into the answer.
using Refusal = std::runtime_error;

/// Reads a whole number from `smallest` to `largest`; if the member is missing, returns `otherwise` where given.
template <typename T>
[[nodiscard]] T number(const nlohmann::json& request, const char* name, std::uint64_t smallest, std::uint64_t largest,
                       std::optional<T> otherwise = std::nullopt) {
  const auto found = request.find(name);
  if (found == request.end()) {
    if (otherwise) return *otherwise;
    throw Refusal(fmt::format("\"{}\" is missing", name));
  }
  if (!found->is_number_unsigned() || found->get<std::uint64_t>() < smallest || found->get<std::uint64_t>() > largest) {
    throw Refusal(fmt::format("\"{}\" is {}, needs a whole number from {} to {}", name, json_input::shown_value(*found),
                              smallest, largest));
  }
  return static_cast<T>(found->get<std::uint64_t>());
}

/// Reads a text, which has to be present.
[[nodiscard]] std::string text(const nlohmann::json& request, const char* name);
/// Reads true or false; false if the member is missing.
[[nodiscard]] bool flag(const nlohmann::json& request, const char* name);
/// Reads a list; an empty one if the member is missing.
[[nodiscard]] nlohmann::json list(const nlohmann::json& request, const char* name);

/// Converts bytes to two hexadecimal digits each, and back.
[[nodiscard]] std::string to_hex(std::span<const std::byte> bytes);
[[nodiscard]] std::vector<std::byte> from_hex(std::string_view digits);

}  // namespace roce::live
