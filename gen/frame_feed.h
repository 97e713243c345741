// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "gen/frame_source.h"
#include "gen/send_schedule.h"

namespace roce::gen {

/// What goes out, and when.
struct SendPlan {
  FrameSource frames;
  /// Goes, one round of it, whenever frames cease to go: at the end and at the beginning of each pause.
  std::optional<FrameSource> closing{};
  SendSchedule::Options schedule{};
  std::uint64_t count = 0;  ///< frames, `closing` not counted; 0: no limit
  Duration duration{0};     ///< how long; 0: no limit
};

/// Hands out the frames of a plan when their time has come. No clock and no I/O: times come in, frames go out.
class FrameFeed {
 public:
  FrameFeed(SendPlan plan, Time begin);

  /// The next frame, if one may go now; valid until as many more were given as its source holds. Error: a packet that
  /// cannot be built.
  [[nodiscard]] SpecResult<std::optional<Bytes>> next(Time now);
  /// Of the last frame, as of its source.
  [[nodiscard]] const FrameKind* kind() const { return kind_; }
  /// When `next` has something at the earliest; `kNever` when nothing is left.
  [[nodiscard]] Time next_time(Time now) const;
  /// Lets only `closing` go, if frames went that it belongs to.
  void stop() { stopped_ = true; }
  [[nodiscard]] bool is_over() const { return over_ && closing_left_ == 0; }
  /// Whether frames went since `closing` did.
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
