// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gen/failure.h"
#include "gen/frame_feed.h"
#include "roce/link/link.h"
#include "roce/wire/super_frame.h"
#include "runtime/stop_signal.h"

namespace roce::gen {

/// What went out.
struct SendTotals {
  std::uint64_t frames = 0;  ///< that the link or the file took
  std::uint64_t bytes = 0;
  std::uint64_t refused = 0;  ///< that the link refused for good; they are lost
  Duration time{0};
  Duration longest_gap{0};         ///< between two frames that went, pauses of the plan not counted
  bool stopped = false;            ///< by a signal
  std::uint64_t super_frames = 0;  ///< of several frames each, which are counted in `frames`
  std::string refusal{};           ///< why there are no super-frames, or no more; empty: there may be
};

/// Sends what a plan says through a link, as fast as its schedule and the link allow, until it is over or SIGINT or
/// SIGTERM comes. Frames that may go at the same time leave as super-frames where the link takes those.
class FrameSender {
 public:
  /// Signals count from now on. Of a plan for a link that takes super-frames the sources need not hold more than one
  /// frame, of one for another link `FrameSource::kHeld`. `progress` is called about once a second with the totals so
  /// far, if it is there.
  FrameSender(link::Link& link, SendPlan plan, std::function<void(const SendTotals&)> progress);

  /// `ready` is called whenever `fd` is readable while `run` runs. -1: never.
  void watch(int fd, std::function<void()> ready) {
    watched_ = fd;
    ready_ = std::move(ready);
  }

  /// Failures: the link is gone; a packet that cannot be built. `totals` says what went before.
  [[nodiscard]] Outcome<void> run();
  [[nodiscard]] const SendTotals& totals() const { return totals_; }

 private:
  [[nodiscard]] Outcome<void> fill(Time now);
  [[nodiscard]] Outcome<void> fill_single(Time now);
  [[nodiscard]] Outcome<void> fill_joined(Time now);
  [[nodiscard]] Outcome<void> flush(Time now);
  /// Hands the link a super-frame, or frames up to one. How many it took.
  [[nodiscard]] link::LinkResult<std::size_t> send_some();
  /// Whether the link takes no super-frames any more; those that wait are frames again then.
  [[nodiscard]] bool take_apart();
  void count(Time now);
  /// Whether a signal came until then.
  [[nodiscard]] bool wait(Duration time);

  link::Link& link_;
  runtime::StopSignal signal_;
  FrameFeed feed_;
  std::function<void(const SendTotals&)> progress_;
  int watched_ = -1;
  std::function<void()> ready_;
  link::Segmentation segmentation_;
  const bool joins_;  ///< frames are copied behind each other, even when the link takes no super-frames any more
  std::vector<SuperFrameBuilder> slots_;
  std::vector<link::TxFrame> frames_;  ///< from `pending_` to `filled_` not yet taken by the link
  std::size_t pending_ = 0;
  std::size_t filled_ = 0;
  Time begin_;
  Time sent_at_ = kNever;  ///< the last frame, if another is to follow without a pause
  link::LinkCounters before_;
  SendTotals joined_;  ///< by how much `frames`, `bytes` and `refused` are more than the link counts
  SendTotals totals_;
};

/// Writes the frames of a plan to a capture file (its name decides pcapng or pcap, `-` is standard output), with the
/// times at which they would have been sent. Needs a plan with an end. Failures: the file cannot be written; a packet
/// that cannot be built.
[[nodiscard]] Outcome<SendTotals> write_frames(SendPlan plan, const std::string& path);

}  // namespace roce::gen
