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

#include "json_input/json_input.h"

namespace roce::gen {

/// What a request cannot have; the answer says it. Thrown by all of the below.
using Refusal = std::runtime_error;

/// A whole number from `smallest` to `largest`; `otherwise`, if there is one, where the member is missing.
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

/// A text, which has to be there.
[[nodiscard]] std::string text(const nlohmann::json& request, const char* name);
/// True or false; false where it is missing.
[[nodiscard]] bool flag(const nlohmann::json& request, const char* name);
/// A list; empty where it is missing.
[[nodiscard]] nlohmann::json list(const nlohmann::json& request, const char* name);

/// Bytes as two hexadecimal digits each, and back.
[[nodiscard]] std::string to_hex(std::span<const std::byte> bytes);
[[nodiscard]] std::vector<std::byte> from_hex(std::string_view digits);

}  // namespace roce::gen
