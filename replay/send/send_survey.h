// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "command_line/outcome.h"
#include "replay/send/frame_intake.h"
#include "replay/send/psn_continuation.h"

namespace roce::replay {

/// Summary of captures, as far as sending them is concerned.
struct Survey {
  std::uint64_t frames = 0;  ///< frames that are sent in a play
  std::uint64_t bytes = 0;   ///< bytes of these frames
  std::uint64_t roce = 0;    ///< RoCE packets among them
  std::array<std::uint64_t, 2> side_frames{};
  std::uint64_t super_frames = 0;  ///< super-frames that were cut
  std::uint64_t untimed = 0;       ///< captured frames that have no time
  Duration length{0};              ///< from the first frame to the last
  std::array<UnfitFrames, kUnfitReasons> unfit{};
  std::optional<impair::Stats> faults{};  ///< faults of one play, if there are any
  std::vector<std::string> warnings;
  /// The frames, if they were asked for and there was room; else empty.
  std::vector<FrameBlock> blocks;
  /// Their PSNs, if they were asked for; else null.
  std::unique_ptr<PsnContinuation> continuation;

  /// Returns the time from the start of a play to that of the next: `length` and, if there is room, the mean gap.
  [[nodiscard]] Duration period() const {
    const Duration gap = frames < 2 ? Duration{0} : length / static_cast<Duration::rep>(frames - 1);
    return length + std::min(gap, Duration::max() - length);
  }
};

struct SurveyOptions {
  std::uint64_t keep_bytes = 0;  ///< memory that the frames may take, in bytes; 0: none are kept
  bool must_keep = false;        ///< true: frames that take more are a failure
  bool learn_psns = false;
  /// Called now and then with the share that has been read, 0 … 1; may be empty.
  std::function<void(double share)> progress{};
};

/// Reads captures to their end. Failures: those of `FrameIntake`; no room for frames that must be kept.
[[nodiscard]] Outcome<Survey> survey(const IntakeOptions& intake, const SurveyOptions& options);

}  // namespace roce::replay
