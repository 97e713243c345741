// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "conform/run/outcome.h"
#include "text/palette.h"
#include "text/text_buffer.h"

namespace roce::conform {

/// Appends the opcode, the PSN and what else is particular to a frame: `RC_ACKNOWLEDGE psn 5  ACK MSN 1`.
void append_frame_text(text::TextBuffer& out, const LoggedFrame& frame, const text::Palette& palette);

/// Returns the time of a frame, counted from the first of all, in milliseconds.
[[nodiscard]] double milliseconds_into(const std::vector<LoggedFrame>& frames, const LoggedFrame& frame);

}  // namespace roce::conform
