// SPDX-License-Identifier: BSD-2-Clause
#include "runtime/note.h"

#include <fmt/core.h>

#include <cstdio>
#include <nlohmann/json.hpp>

namespace roce::runtime {

void print_note(std::string_view event, std::string_view text, bool json) {
  if (json) {
    // The text may have names of files and text from others, which need not be UTF-8.
    const nlohmann::ordered_json note{{"event", event}, {"text", text}};
    fmt::print("{}\n", note.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    std::fflush(stdout);
  } else {
    fmt::print(stderr, "{}\n", text);
  }
}

}  // namespace roce::runtime
