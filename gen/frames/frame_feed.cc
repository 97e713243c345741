// SPDX-License-Identifier: BSD-2-Clause
#include "gen/frames/frame_feed.h"

#include <algorithm>

namespace roce::gen {

FrameFeed::FrameFeed(SendPlan plan, Time begin)
    : plan_(std::move(plan)),
      schedule_(plan_.schedule, begin),
      end_(plan_.duration == Duration{0} ? kNever : begin + plan_.duration) {}

bool FrameFeed::is_complete(Time now) const {
  if (stopped_ || now >= end_) return true;
  if (plan_.count == 0 || handed_out_ < plan_.count) return false;
  // `closing` comes one step of the schedule after the last frame.
  return !plan_.closing || schedule_.next(now) <= now || !schedule_.is_on(now);
}

void FrameFeed::close() {
  if (open_ && plan_.closing) closing_left_ = plan_.closing->round();
  open_ = false;
}

SpecResult<std::optional<Bytes>> FrameFeed::next(Time now) {
  if (!over_ && is_complete(now)) {
    over_ = true;
    close();
  }
  if (!over_ && open_ && !schedule_.is_on(now)) close();
  if (closing_left_ != 0) {
    --closing_left_;
    SpecResult<Bytes> frame = plan_.closing->next();
    if (!frame) return tl::unexpected(frame.error());
    kind_ = plan_.closing->kind();
    return *frame;
  }
  const bool counted_out = plan_.count != 0 && handed_out_ >= plan_.count;
  if (over_ || counted_out || schedule_.next(now) > now) return std::nullopt;
  SpecResult<Bytes> frame = plan_.frames.next();
  if (!frame) return tl::unexpected(frame.error());
  kind_ = plan_.frames.kind();
  schedule_.sent(frame->size(), now);
  ++handed_out_;
  open_ = true;
  return *frame;
}

Time FrameFeed::next_time(Time now) const {
  if (closing_left_ != 0 || (!over_ && is_complete(now))) return now;
  if (over_) return kNever;
  Time next = std::min(schedule_.next(now), end_);
  if (open_ && plan_.closing) next = std::min(next, schedule_.next_change(now));
  return next;
}

}  // namespace roce::gen
