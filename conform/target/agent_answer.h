// SPDX-License-Identifier: BSD-2-Clause
// Members of an agent's answers. One that is missing or wrong throws DeviceGone: then it is not an agent that answers.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "conform/target/target.h"
#include "roce/live/control_request.h"

namespace roce::conform {

/// Returns what `read` makes of an answer; what it refuses makes the agent one that cannot be used.
template <typename Read>
auto read_answer(Read read) {
  try {
    return read();
  } catch (const live::Refusal& refusal) {
    throw DeviceGone(fmt::format("an answer of the agent cannot be used: {}", refusal.what()));
  }
}

/// Returns a number that is in the range of its type.
template <typename T>
T answered_number(const nlohmann::json& answer, const char* name) {
  return read_answer([&] { return live::number<T>(answer, name, 0, std::numeric_limits<T>::max()); });
}

[[nodiscard]] inline std::string answered_text(const nlohmann::json& answer, const char* name) {
  return read_answer([&] { return live::text(answer, name); });
}

[[nodiscard]] inline std::vector<std::byte> answered_bytes(const nlohmann::json& answer, const char* name) {
  return read_answer([&] { return live::from_hex(live::text(answer, name)); });
}

}  // namespace roce::conform
