// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/run/summary_statements.h"

namespace roce::analyze {

/// Connections from one host to another of which the capture has requests and not a single answer, for one reason.
struct NeverWorked {
  Gid from{};
  Gid to{};
  std::uint16_t point = 0;
  std::uint64_t connections = 0;
  std::uint64_t requests = 0;  ///< request packets, including those that were sent again
  Time since{};                ///< of the first of these
  bool begin_is_seen = true;   ///< the capture has how they were set up: nothing was answered before it either
  std::string_view why;        ///< a word for programs
  std::string reason;          ///< what the capture shows about why, and what to do about it
};

/// Returns them, those with most connections first. A request was sent at least three times, and either the capture
/// shows what else goes back, or other frames say why it is silent: ICMP errors about these packets, questions for the
/// address that nobody answers, or packets of the other host in another RoCE version.
[[nodiscard]] std::vector<NeverWorked> find_never_worked(const JudgedPart& part);

/// Returns a sentence about each of them.
[[nodiscard]] std::vector<Statement> statements_about_never_worked(const JudgedPart& part);

}  // namespace roce::analyze
