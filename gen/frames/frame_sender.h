// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "command_line/outcome.h"
#include "gen/frames/frame_feed.h"
#include "roce/link/link.h"
#include "roce/wire/super_frame.h"
#include "runtime/stop_signal.h"

namespace roce::gen {

/// Totals of what was sent or written.
struct SendTotals {
  std::uint64_t frames = 0;  ///< frames that the link or the file took
  std::uint64_t bytes = 0;
  std::uint64_t refused = 0;  ///< frames that the link refused for good; they are lost
  Duration time{0};
  Duration longest_gap{0};         ///< between two frames that were sent, without the pauses of the plan
  bool stopped = false;            ///< ended by a signal
  std::uint64_t super_frames = 0;  ///< super-frames sent; their frames are counted in `frames`
  std::string refusal{};           ///< why there are no super-frames, or no more of them; empty: there may be
};

/// Sends the frames of a plan through a link, as fast as its schedule and the link allow, until it is over or SIGINT or
/// SIGTERM comes. Frames that may go at the same time leave as super-frames if the link takes those.
class FrameSender {
 public:
  /// Takes signals from now on. The sources of `plan` need not hold more than one frame
  /// if the link takes super-frames; otherwise they have to hold `FrameSource::kHeld`.
  /// `progress`, if it is set, is called about once a second with the totals so far.
  FrameSender(link::Link& link, SendPlan plan, std::function<void(const SendTotals&)> progress);

  /// Calls `ready` whenever `fd` is readable while `run` runs. -1: never.
  void watch(int fd, std::function<void()> ready) {
    watched_ = fd;
    ready_ = std::move(ready);
  }

  /// Sends until the end. Failures: the link is gone; a packet that cannot be built. `totals` has what was sent before.
  [[nodiscard]] Outcome<void> run();
  [[nodiscard]] const SendTotals& totals() const { return totals_; }

 private:
  [[nodiscard]] Outcome<void> fill(Time now);
  [[nodiscard]] Outcome<void> fill_single(Time now);
  [[nodiscard]] Outcome<void> fill_joined(Time now);
  [[nodiscard]] Outcome<void> flush(Time now);
  /// Hands the link one super-frame, or the frames before the next one; returns how many it took.
  [[nodiscard]] link::LinkResult<std::size_t> send_some();
  /// True if the link takes no more super-frames; those that wait have then been cut into frames.
  [[nodiscard]] bool take_apart();
  void count(Time now);
  /// Waits for up to `time`; true if a signal came.
  [[nodiscard]] bool wait(Duration time);

  link::Link& link_;
  runtime::StopSignal signal_;
  FrameFeed feed_;
  std::function<void(const SendTotals&)> progress_;
  int watched_ = -1;
  std::function<void()> ready_;
  link::Segmentation segmentation_;
  const bool joins_;  ///< frames are copied into `slots_`, even after the link has stopped taking super-frames
  std::vector<SuperFrameBuilder> slots_;
  std::vector<link::TxFrame> frames_;  ///< those from `pending_` to `filled_` are not yet taken by the link
  std::size_t pending_ = 0;
  std::size_t filled_ = 0;
  Time begin_;
  Time sent_at_ = kNever;  ///< time of the last frame; kNever if a pause follows it
  link::LinkCounters before_;
  SendTotals joined_;  ///< excess of `frames`, `bytes` and `refused` over the link's counts
  SendTotals totals_;
};

/// Writes the frames of a plan to a capture file (its name decides pcapng or pcap, `-` is standard output), with the
/// times at which they would have been sent. Needs a plan with an end. Failures: the file cannot be written; a packet
/// that cannot be built.
[[nodiscard]] Outcome<SendTotals> write_frames(SendPlan plan, const std::string& path);

}  // namespace roce::gen
