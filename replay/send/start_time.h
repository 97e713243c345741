// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>

#include "command_line/outcome.h"
#include "roce/wire/time.h"

namespace roce::replay {

/// Returns how long it is until a start time: `+SECONDS`, seconds since the Unix epoch, or `2026-11-22T12:00:00Z`
/// (UTC), each with a fraction if wanted. `now_ns` is the wall clock in nanoseconds since the Unix epoch.
/// Failures: a text of another form; a time in the past.
[[nodiscard]] Outcome<Duration> time_until(const std::string& text, std::int64_t now_ns);

}  // namespace roce::replay
