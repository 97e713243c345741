// SPDX-License-Identifier: BSD-2-Clause
#include "text/live_line.h"

#include <fmt/format.h>

#include <cstdio>

namespace roce::text {

void show_live_line(std::string_view line) {
  fmt::print(stderr, "\r\033[K{}", line);
  std::fflush(stderr);
}

void show_reading(double share) {
  show_live_line(fmt::format("reading, {:.0f} %", share * 100));
}

void end_live_line() {
  show_live_line({});
}

}  // namespace roce::text
