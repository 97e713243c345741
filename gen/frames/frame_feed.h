// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "gen/frames/frame_source.h"
#include "gen/frames/send_schedule.h"

namespace roce::gen {

/// The frames to send, and when.
struct SendPlan {
  FrameSource frames;
  /// One round of it is sent whenever frames stop: at the end and at the beginning of each pause.
  std::optional<FrameSource> closing{};
  SendSchedule::Options schedule{};
  std::uint64_t count = 0;  ///< frames, `closing` not counted; 0: no limit
  Duration duration{0};     ///< how long; 0: no limit
};

/// Hands out the frames of a plan when their time has come. No clock and no I/O: times come in, frames go out.
class FrameFeed {
 public:
  FrameFeed(SendPlan plan, Time begin);

  /// Returns the next frame if one may go now; valid until as many more have been returned as its source holds. Error:
  /// a packet that cannot be built.
  [[nodiscard]] SpecResult<std::optional<Bytes>> next(Time now);
  /// Returns the kind of the last frame, as its source does.
  [[nodiscard]] const FrameKind* kind() const { return kind_; }
  /// Returns the earliest time at which `next` has a frame; `kNever` if none is left.
  [[nodiscard]] Time next_time(Time now) const;
  /// Ends the plan; only `closing` is still sent, if frames have gone since it was last sent.
  void stop() { stopped_ = true; }
  [[nodiscard]] bool is_over() const { return over_ && closing_left_ == 0; }
  /// True if frames have gone since `closing` was last sent.
  [[nodiscard]] bool is_open() const { return open_; }

 private:
  [[nodiscard]] bool is_complete(Time now) const;
  void close();

  SendPlan plan_;
  SendSchedule schedule_;
  Time end_;
  std::uint64_t handed_out_ = 0;
  std::uint64_t closing_left_ = 0;
  bool open_ = false;
  bool over_ = false;
  bool stopped_ = false;
  const FrameKind* kind_ = nullptr;
};

}  // namespace roce::gen
