// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "replay/failure.h"
#include "replay/frame_intake.h"
#include "replay/psn_continuation.h"

namespace roce::replay {

/// How often a capture is played, and what is different each time.
struct Plays {
  std::uint64_t count = 1;                        ///< 0: without end
  Duration length{0};                             ///< from the start of one to that of the next, in the capture's time
  const PsnContinuation* continuation = nullptr;  ///< moves the PSNs of each but the first; null: they start again
};

/// The frames of all plays, in order.
class FrameFeed {
 public:
  FrameFeed() = default;
  FrameFeed(const FrameFeed&) = delete;
  FrameFeed& operator=(const FrameFeed&) = delete;
  virtual ~FrameFeed() = default;

  /// The next frames, `ReplayFrame::captured` counting from the start of the first play; valid until the next call.
  /// Null at the end. May wait for a file.
  [[nodiscard]] virtual Outcome<FrameBlock*> next() = 0;
};

/// Frames that are in memory.
[[nodiscard]] std::unique_ptr<FrameFeed> feed_from_memory(std::vector<FrameBlock> blocks, const Plays& plays);

/// Frames that a thread reads from the captures a little ahead of their use, so that it takes little memory however
/// large they are. `options` has to outlive the feed. Failures: those of `FrameIntake::open`.
[[nodiscard]] Outcome<std::unique_ptr<FrameFeed>> feed_from_files(const IntakeOptions& options, const Plays& plays);

}  // namespace roce::replay
