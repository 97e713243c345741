// SPDX-License-Identifier: BSD-2-Clause
#include "replay/send/send_loop.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "roce/port/interfaces.h"
#include "runtime/clock.h"

namespace roce::replay {

namespace {

using runtime::now;

// A sleeping thread is woken late: by tens of microseconds on idle hardware, by milliseconds in a virtual machine whose
// host has given the processor to another one. The last 10 ms of a wait are therefore spent reading the clock.
constexpr Duration kWakeEarly = std::chrono::milliseconds{10};
// A link reports that it is full, but does not always report that there is room again.
constexpr Duration kRetrySend = std::chrono::microseconds{50};
constexpr unsigned kQuickRetries = 16;
// The interval at which signals and links are checked while frames are sent.
constexpr Duration kLookInterval = std::chrono::milliseconds{5};
constexpr Duration kProgressInterval = std::chrono::seconds{1};

/// True if a signal has come, or comes within `time`.
[[nodiscard]] bool wait_for_signal(runtime::StopSignal& signal, Duration time) {
  pollfd set{signal.fd(), POLLIN, 0};
  constexpr Duration::rep ns_per_second = 1'000'000'000;
  const Duration::rep left = std::max<Duration::rep>(time.count(), 0);
  timespec timeout{};
  timeout.tv_sec = static_cast<time_t>(left / ns_per_second);
  timeout.tv_nsec = static_cast<long>(left % ns_per_second);
  return ::ppoll(&set, 1, &timeout, nullptr) > 0 && signal.take();
}

[[nodiscard]] bool is_up(const std::string& interface) {
  const port::Result<port::Interface> found = port::find_interface(interface);
  return found && found->up;
}

}  // namespace

SendLoop::SendLoop(std::vector<SendLine> lines, FrameFeed& feed, const Pace& pace,
                   std::function<void(const SendTotals&)> progress)
    : feed_(feed), pacing_(pace), is_timed_(pace.kind != Pace::Kind::top), progress_(std::move(progress)) {
  lines_.reserve(lines.size());
  for (SendLine& line : lines) {
    const link::LinkCounters before = line.link->counters();
    lines_.push_back({std::move(line), before, {}});
  }
}

void SendLoop::count() {
  for (std::size_t side = 0; side < lines_.size(); ++side) {
    const link::LinkCounters counters = lines_[side].line.link->counters();
    totals_.frames[side] = counters.sent - lines_[side].before.sent;
    totals_.bytes[side] = counters.sent_bytes - lines_[side].before.sent_bytes;
    totals_.refused[side] = counters.send_errors - lines_[side].before.send_errors;
  }
  totals_.time = std::max(Duration{0}, sent_at_ - begin_);
}

/// Checks for signals, reports progress, and checks that the links are up.
Outcome<void> SendLoop::look(Time time) {
  looked_at_ = time;
  if (signal_.take()) totals_.stopped = true;
  const std::uint64_t refused = totals_.all_refused();
  count();
  if (totals_.all_refused() != refused) {
    for (const Line& line : lines_) {
      if (!is_up(line.line.interface)) {
        return failed(fmt::format("{} went down, and what is sent to it is lost: set it up, and begin again",
                                  line.line.interface));
      }
    }
  }
  if (progress_ && time - told_at_ >= kProgressInterval) {
    progress_(totals_);
    told_at_ = time;
  }
  return {};
}

Time SendLoop::wait_until(Time due) {
  for (Time time = now();; time = now()) {
    if (time >= due || totals_.stopped) return time;
    Duration left = due - time;
    if (left > kWakeEarly) {
      if (progress_) left = std::min(left, kProgressInterval);
      if (wait_for_signal(signal_, left - kWakeEarly)) totals_.stopped = true;
    }
    // A long wait leaves time for a look; a failure does not matter, as no frame is lost in the meantime.
    if (left > kWakeEarly && time - looked_at_ >= kLookInterval) (void)look(time);
  }
}

Outcome<void> SendLoop::flush(Line& line) {
  Batch& batch = line.batch;
  unsigned tries = 0;
  for (std::size_t done = 0; done < batch.size;) {
    const Time time = now();
    const link::LinkResult<std::size_t> taken =
        line.line.link->send(std::span{batch.frames}.subspan(done, batch.size - done));
    if (!taken) return failed(taken.error().message);
    if (is_timed_) {
      for (std::size_t i = done; i < done + *taken; ++i) totals_.lateness.add(time - batch.due[i]);
    }
    done += *taken;
    if (*taken != 0) {
      tries = 0;
      sent_at_ = time;
    } else if (++tries > kQuickRetries && wait_for_signal(signal_, kRetrySend)) {
      // After a signal there is no waiting for the link to take the rest.
      totals_.stopped = true;
      break;
    }
    if (time - looked_at_ >= kLookInterval) {
      if (Outcome<void> looked = look(time); !looked) return looked;
    }
  }
  batch.size = 0;
  return {};
}

Outcome<void> SendLoop::flush() {
  for (Line& line : lines_) {
    if (Outcome<void> flushed = flush(line); !flushed) return flushed;
  }
  return {};
}

Outcome<void> SendLoop::send(FrameBlock& block, Time begin) {
  Time time = begin_;
  for (const ReplayFrame& frame : block.frames) {
    const Time due = begin + pacing_.next(frame.captured, frame.size);
    if (due > time) {
      if (Outcome<void> flushed = flush(); !flushed) return flushed;
      time = wait_until(due);
      if (totals_.stopped) return {};
    }
    Line& line = lines_[frame.side];
    line.batch.frames[line.batch.size].bytes = block.bytes_of(frame);
    line.batch.due[line.batch.size] = due;
    if (++line.batch.size == kBatch) {
      if (Outcome<void> flushed = flush(); !flushed) return flushed;
      if (totals_.stopped) return {};
    }
  }
  return flush();
}

/// Lets each link hand on the frames that it took while the kernel had no room, which it does when it is used again.
Outcome<void> SendLoop::finish() {
  for (Line& line : lines_) {
    for (unsigned tries = 0; tries < kQuickRetries; ++tries) {
      if (const auto received = line.line.link->receive({}); !received) return failed(received.error().message);
    }
  }
  return {};
}

Outcome<void> SendLoop::run(Time begin) {
  begin_ = begin;
  looked_at_ = told_at_ = now();
  sent_at_ = begin;
  (void)wait_until(begin);
  Outcome<void> done;
  while (done && !totals_.stopped) {
    const Outcome<FrameBlock*> block = feed_.next();
    if (!block) {
      done = tl::unexpected(block.error());
      break;
    }
    if (*block == nullptr) break;
    done = send(**block, begin);
  }
  if (done) done = finish();
  count();
  return done;
}

}  // namespace roce::replay
