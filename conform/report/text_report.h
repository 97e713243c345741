// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "conform/report/run_result.h"
#include "text/palette.h"
#include "text/text_buffer.h"

namespace roce::conform {

/// Appends the table of groups and results, and the total.
void append_summary(text::TextBuffer& out, const RunResult& result, const text::Palette& palette);
/// Appends one deviation: the rule, the step, the fields, all tries, the frames up to there, and how to run it alone.
void append_failure(text::TextBuffer& out, const RunResult& result, const InstanceRecord& instance,
                    const text::Palette& palette);
/// Appends the frames of a run as a ladder: time, direction, packet, and the line of the step.
void append_frames(text::TextBuffer& out, const std::vector<LoggedFrame>& frames, const text::Palette& palette);

}  // namespace roce::conform
