// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "conform/fuzz/program_run.h"

namespace roce::conform::fuzz {

/// One fault of the device, with the shortest program that was found to show it.
struct Finding {
  ProgramResult result;     ///< of that program; it has an alarm. Without turns, if an earlier fuzzer found it
  std::uint64_t times = 1;  ///< how often programs raised this alarm
  unsigned shown = 0;       ///< in how many runs of the program alone it showed again
  unsigned repeats = 0;     ///< how many these were; 0: the device was gone
};

}  // namespace roce::conform::fuzz
