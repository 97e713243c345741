// SPDX-License-Identifier: BSD-2-Clause
#include "runtime/note.h"

#include <fmt/core.h>

#include <cstdio>
#include <nlohmann/json.hpp>

namespace roce::runtime {

void print_note(std::string_view event, std::string_view text, bool json) {
  if (json) {
    fmt::print("{}\n", nlohmann::ordered_json{{"event", event}, {"text", text}}.dump());
    std::fflush(stdout);
  } else {
    fmt::print(stderr, "{}\n", text);
  }
}

}  // namespace roce::runtime
