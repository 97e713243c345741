// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "command_line/outcome.h"
#include "replay/send/frame_intake.h"
#include "replay/send/psn_continuation.h"

namespace roce::replay {

/// The number of times that a capture is played, and what differs from play to play.
struct Plays {
  std::uint64_t count = 1;                        ///< 0: without end
  Duration length{0};                             ///< from the start of a play to that of the next, in capture time
  const PsnContinuation* continuation = nullptr;  ///< moves the PSNs of each play but the first; null: they start again
};

/// The frames of all plays, in order.
class FrameFeed {
 public:
  FrameFeed() = default;
  FrameFeed(const FrameFeed&) = delete;
  FrameFeed& operator=(const FrameFeed&) = delete;
  virtual ~FrameFeed() = default;

  /// Returns the next frames, with `ReplayFrame::captured` counted from the start of the first play; valid until
  /// the next call. Null at the end. May wait for a file.
  [[nodiscard]] virtual Outcome<FrameBlock*> next() = 0;
};

/// Makes a feed of frames that are in memory.
[[nodiscard]] std::unique_ptr<FrameFeed> feed_from_memory(std::vector<FrameBlock> blocks, const Plays& plays);

/// Makes a feed of frames that a thread reads from the captures a little ahead of their use, so that it takes little
/// memory however large they are. `options` has to outlive the feed. Failures: those of `FrameIntake::open`.
[[nodiscard]] Outcome<std::unique_ptr<FrameFeed>> feed_from_files(const IntakeOptions& options, const Plays& plays);

}  // namespace roce::replay
