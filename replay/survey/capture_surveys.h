// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "command_line/outcome.h"
#include "replay/segment/segment_survey.h"
#include "replay/survey/connection_sides.h"

namespace roce::replay {

/// Called now and then with the share that has been read, 0 … 1; may be empty.
using ReadingProgress = std::function<void(double share)>;

/// Reads a capture to its end to find out how its messages can be cut into packets of `path_mtu` bytes. Failures: the
/// capture cannot be read, or not twice; a link type that is unknown.
[[nodiscard]] Outcome<std::shared_ptr<const SegmentPlan>> plan_segments(const std::string& file, std::uint32_t path_mtu,
                                                                        const ReadingProgress& progress);

/// Plans segments for several captures that are played as one (`CaptureMerge`).
[[nodiscard]] Outcome<std::shared_ptr<const SegmentPlan>> plan_segments(const std::vector<std::string>& files,
                                                                        std::uint32_t path_mtu,
                                                                        const ReadingProgress& progress);

/// Reads captures that are played as one to their end to find out which of their frames `ends` sent. Failures: those of
/// `plan_segments`; an end that is not in any connection.
[[nodiscard]] Outcome<std::shared_ptr<const ConnectionSides>> find_sides(const std::vector<std::string>& files,
                                                                         const SideEnds& ends,
                                                                         const ReadingProgress& progress);

/// Returns a sentence about a connection that stays as it is.
[[nodiscard]] std::string text_of(const LeftConnection& left);

}  // namespace roce::replay
