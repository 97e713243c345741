// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "roce/transport/counters.h"
#include "roce/wire/time.h"

namespace roce::gen {

/// The result of an exchange with one of the programs of librdmacm.
struct ProgramReport {
  std::string program;  ///< its name: `rping` …
  bool is_server = false;
  std::string peer;            ///< its address
  std::uint64_t messages = 0;  ///< pings, or messages each way
  std::uint64_t bytes = 0;     ///< bytes of their data, each way
  bool is_one_way = false;     ///< nothing comes back
  bool is_compared = false;    ///< received data were compared with what was expected
  Time begun = kNever;         ///< when the connection was established
  Time ended = kNever;
  std::string error;  ///< why it failed; empty if it did not
  transport::Counters counters;
};

/// Prints a report: a line for people, or a JSON object on a line.
void print_program(const ProgramReport& report, bool json);

}  // namespace roce::gen
