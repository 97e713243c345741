// SPDX-License-Identifier: BSD-2-Clause
#include "gen/frames/frame_sender.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "roce/live/recorder.h"
#include "runtime/clock.h"

namespace roce::gen {

namespace {

constexpr std::size_t kBatch = FrameSource::kHeld;
// A batch should stay in a cache between being written and being sent.
constexpr std::size_t kBatchBytes = 256 << 10;
// The kernel wakes us some tens of microseconds late, so the last part of each wait is spent polling.
constexpr Duration kWakeLate = std::chrono::microseconds{60};
// A link reports that it is full, but not when it has room again, so sending is retried after this time.
constexpr Duration kRetrySend = std::chrono::microseconds{100};
constexpr Duration kLookInterval = std::chrono::milliseconds{1};
constexpr Duration kProgressInterval = std::chrono::seconds{1};

[[nodiscard]] std::int64_t wall_clock() {
  return std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

FrameSender::FrameSender(link::Link& link, SendPlan plan, std::function<void(const SendTotals&)> progress)
    : link_(link),
      feed_(std::move(plan), runtime::now()),
      progress_(std::move(progress)),
      segmentation_(link.segmentation()),
      joins_(segmentation_.max_segments > 1),
      slots_(kBatch),
      frames_(kBatch),
      begin_(runtime::now()),
      before_(link.counters()) {
  totals_.refusal = segmentation_.refusal;
}

bool FrameSender::wait(Duration time) {
  // ppoll ignores an entry whose file descriptor is -1.
  std::array<pollfd, 2> set{{{signal_.fd(), POLLIN, 0}, {watched_, POLLIN, 0}}};
  timespec timeout{};
  constexpr Duration::rep ns_per_second = 1'000'000'000;
  const Duration::rep left = std::max<Duration::rep>((time - kWakeLate).count(), 0);
  timeout.tv_sec = static_cast<time_t>(left / ns_per_second);
  timeout.tv_nsec = static_cast<long>(left % ns_per_second);
  if (::ppoll(set.data(), set.size(), &timeout, nullptr) <= 0) return false;
  if (set[1].revents != 0) ready_();
  return set[0].revents != 0 && signal_.take();
}

Outcome<void> FrameSender::fill(Time now) {
  pending_ = filled_ = 0;
  return joins_ ? fill_joined(now) : fill_single(now);
}

Outcome<void> FrameSender::fill_single(Time now) {
  while (filled_ < kBatch) {
    const SpecResult<std::optional<Bytes>> frame = feed_.next(now);
    if (!frame) return failed(frame.error().message);
    if (!*frame) break;
    frames_[filled_].bytes = **frame;
    frames_[filled_++].segment_size = 0;
  }
  return {};
}

Outcome<void> FrameSender::fill_joined(Time now) {
  std::size_t bytes = 0;
  while (bytes < kBatchBytes) {
    const SpecResult<std::optional<Bytes>> frame = feed_.next(now);
    if (!frame) return failed(frame.error().message);
    if (!*frame) break;
    bytes += (*frame)->size();
    const FrameKind* const kind = feed_.kind();
    const auto add = [&](SuperFrameBuilder& slot) {
      return slot.add(**frame, segmentation_.max_segments, segmentation_.max_bytes, kind);
    };
    if (filled_ != 0 && add(slots_[filled_ - 1])) continue;
    slots_[filled_++].begin(**frame, kind);
    if (filled_ == kBatch) break;
  }
  for (std::size_t i = 0; i < filled_; ++i) {
    frames_[i].bytes = slots_[i].finish();
    frames_[i].segment_size = slots_[i].segment_size();
  }
  return {};
}

bool FrameSender::take_apart() {
  if (frames_[pending_].segment_size == 0) return false;
  link::Segmentation segmentation = link_.segmentation();
  if (segmentation.max_segments > 1) return false;
  segmentation_ = std::move(segmentation);
  totals_.refusal = segmentation_.refusal;
  std::vector<std::byte> frame;
  std::vector<SuperFrameBuilder> single;
  for (std::size_t i = pending_; i < filled_; ++i) {
    if (frames_[i].segment_size == 0) {
      single.push_back(std::move(slots_[i]));
      continue;
    }
    const Packet whole = parse_frame(frames_[i].bytes, LinkType::ethernet);
    const SuperFrame parts{frames_[i].segment_size, slots_[i].count(), 1};
    for (std::uint32_t part = 0; part < parts.count; ++part) {
      cut_frame(whole, parts, part, frame);
      single.emplace_back().begin(frame);
    }
  }
  pending_ = 0;
  filled_ = single.size();
  slots_ = std::move(single);
  slots_.resize(std::max(filled_, kBatch));
  frames_.resize(slots_.size());
  for (std::size_t i = 0; i < filled_; ++i) frames_[i] = {slots_[i].finish(), {}};
  return true;
}

link::LinkResult<std::size_t> FrameSender::send_some() {
  const std::span<const link::TxFrame> waiting = std::span{frames_}.subspan(pending_, filled_ - pending_);
  if (waiting.front().segment_size == 0) {
    const auto end = std::ranges::find_if(waiting, [](const link::TxFrame& frame) { return frame.segment_size != 0; });
    return link_.send(waiting.first(static_cast<std::size_t>(end - waiting.begin())));
  }
  // A super-frame goes alone, so that it is known what became of its packets.
  const std::uint64_t errors = link_.counters().send_errors;
  link::LinkResult<std::size_t> taken = link_.send(waiting.first(1));
  if (!taken || *taken == 0) return taken;
  const SuperFrameBuilder& slot = slots_[pending_];
  if (link_.counters().send_errors != errors) {
    joined_.refused += slot.count() - 1;
    return taken;
  }
  ++totals_.super_frames;
  joined_.frames += slot.count() - 1;
  joined_.bytes += slot.wire_bytes() - waiting.front().bytes.size();
  return taken;
}

Outcome<void> FrameSender::flush(Time now) {
  const link::LinkResult<std::size_t> taken = send_some();
  if (!taken) return failed(taken.error().message);
  pending_ += *taken;
  if (*taken == 0) return {};
  if (sent_at_ != kNever) totals_.longest_gap = std::max(totals_.longest_gap, now - sent_at_);
  sent_at_ = feed_.is_open() ? now : kNever;
  return {};
}

void FrameSender::count(Time now) {
  const link::LinkCounters counters = link_.counters();
  totals_.frames = counters.sent - before_.sent + joined_.frames;
  totals_.bytes = counters.sent_bytes - before_.sent_bytes + joined_.bytes;
  totals_.refused = counters.send_errors - before_.send_errors + joined_.refused;
  totals_.time = now - begin_;
}

Outcome<void> FrameSender::run() {
  Time looked_at = begin_;
  Time told_at = begin_;
  Outcome<void> done;
  while (done && (!feed_.is_over() || pending_ != filled_)) {
    const Time time = runtime::now();
    bool moved = false;
    if (pending_ == filled_) done = fill(time);
    if (done && pending_ != filled_) {
      const std::size_t before = pending_;
      done = flush(time);
      moved = pending_ != before || (done && take_apart());
    }
    const bool is_blocked = pending_ != filled_ && !moved;
    const Time until = is_blocked ? time + kRetrySend : pending_ != filled_ ? time : feed_.next_time(time);
    Time wake = until;
    if (progress_) wake = std::min(wake, told_at + kProgressInterval);
    const bool sleeps = !feed_.is_over() && wake - kWakeLate > time;
    if (sleeps || is_blocked || time - looked_at >= kLookInterval) {
      looked_at = time;
      if (wait(sleeps && wake != kNever ? wake - time : is_blocked ? kRetrySend + kWakeLate : Duration{0})) {
        totals_.stopped = true;
        feed_.stop();
        // Frames that the link does not take now are given up.
        if (is_blocked) filled_ = pending_;
      }
      if (progress_ && time - told_at >= kProgressInterval) {
        count(time);
        progress_(totals_);
        told_at = time;
      }
    }
  }
  count(runtime::now());
  return done;
}

Outcome<SendTotals> write_frames(SendPlan plan, const std::string& path) {
  live::Result<live::Recorder> recorder = live::Recorder::create(path, "");
  if (!recorder) return tl::unexpected(recorder.error());
  const Time begin{};
  FrameFeed feed{std::move(plan), begin};
  const std::int64_t epoch = wall_clock();
  SendTotals totals;
  Time time = begin;
  Time sent_at = kNever;
  while (true) {
    const SpecResult<std::optional<Bytes>> frame = feed.next(time);
    if (!frame) return failed(frame.error().message);
    if (*frame) {
      recorder->record(port::Direction::sent, **frame, epoch + (time - begin).count());
      ++totals.frames;
      totals.bytes += (*frame)->size();
      if (sent_at != kNever) totals.longest_gap = std::max(totals.longest_gap, time - sent_at);
      sent_at = feed.is_open() ? time : kNever;
      continue;
    }
    const Time next = feed.next_time(time);
    if (next == kNever) break;
    time = std::max(next, time);
  }
  totals.time = time - begin;
  if (const live::Result<void> closed = recorder->close(); !closed) return tl::unexpected(closed.error());
  return totals;
}

}  // namespace roce::gen
