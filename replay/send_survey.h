// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "replay/failure.h"
#include "replay/frame_intake.h"
#include "replay/psn_continuation.h"

namespace roce::replay {

/// What is in captures as far as sending them goes.
struct Survey {
  std::uint64_t frames = 0;  ///< that go out in a play
  std::uint64_t bytes = 0;   ///< of these
  std::uint64_t roce = 0;    ///< packets among them
  std::array<std::uint64_t, 2> side_frames{};
  std::uint64_t super_frames = 0;  ///< that were cut
  std::uint64_t untimed = 0;       ///< frames of the captures that have no time
  Duration length{0};              ///< from the first to the last
  std::array<UnfitFrames, kUnfitReasons> unfit{};
  std::optional<impair::Stats> faults{};  ///< of a play, where there are any
  std::vector<std::string> warnings;
  /// The frames, if that was asked for and there was room; empty otherwise.
  std::vector<FrameBlock> blocks;
  /// What is known of their PSNs, if that was asked for.
  std::unique_ptr<PsnContinuation> continuation;

  /// From the start of a play to that of the next: the mean gap comes on top of `length`, where there is room for it.
  [[nodiscard]] Duration period() const {
    const Duration gap = frames < 2 ? Duration{0} : length / static_cast<Duration::rep>(frames - 1);
    return length + std::min(gap, Duration::max() - length);
  }
};

struct SurveyOptions {
  std::uint64_t keep_bytes = 0;  ///< how much memory the frames may take; 0: none are kept
  bool must_keep = false;        ///< more than that is a failure
  bool learn_psns = false;
  /// Called now and then with how far it is, 0 … 1; may be empty.
  std::function<void(double share)> progress{};
};

/// Reads captures to their end. Failures: those of `FrameIntake`; no room for what is to be kept.
[[nodiscard]] Outcome<Survey> survey(const IntakeOptions& intake, const SurveyOptions& options);

}  // namespace roce::replay
