// SPDX-License-Identifier: BSD-2-Clause
#include "command_line/ending.h"

#include <cstdio>

namespace roce::command_line {

ExitCode ending_of(const char* program, const Outcome<ExitCode>& ended) {
  if (ended) return *ended;
  std::fprintf(stderr, "%s: %s\n", program, ended.error().message.c_str());
  return ended.error().code;
}

}  // namespace roce::command_line
