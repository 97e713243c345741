// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>

#include "command_line/outcome.h"
#include "replay/send/pacing.h"
#include "replay/send/play_feed.h"
#include "replay/send/send_loop.h"

namespace roce::replay {

/// Writes the frames of a feed to a capture file with the times at which they would be sent, the first at `start_ns`
/// nanoseconds since the Unix epoch. Failures: the file cannot be written; those of the feed.
[[nodiscard]] Outcome<SendTotals> write_frames(FrameFeed& feed, const Pace& pace, const std::string& path,
                                               std::int64_t start_ns);

}  // namespace roce::replay
