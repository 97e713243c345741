// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/driver.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

namespace roce::live {

namespace {

constexpr int kSettleRounds = 64;
/// Rounds of the port at one time of a simulation; a program that always has something to send sends the rest later.
constexpr int kRoundsAtOneTime = 256;

}  // namespace

Driver::Driver(link::Link& link, port::Port& port, Clock& clock, int stop_fd)
    : link_(link),
      port_(port),
      clock_(clock),
      stop_fd_(stop_fd),
      posted_fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

Driver::~Driver() {
  if (posted_fd_ >= 0) ::close(posted_fd_);
}

void Driver::post(std::function<void()> work) {
  const std::scoped_lock lock{posting_};
  posted_.push_back(std::move(work));
  (void)::eventfd_write(posted_fd_, 1);
}

void Driver::do_posted() {
  std::vector<std::function<void()>> work;
  {
    const std::scoped_lock lock{posting_};
    eventfd_t count = 0;
    (void)::eventfd_read(posted_fd_, &count);
    work.swap(posted_);
  }
  for (const std::function<void()>& one : work) one();
}

void Driver::watch(int fd, short events, std::function<void(short)> ready) {
  watched_[fd] = {events, std::move(ready)};
}

void Driver::forget(int fd) {
  watched_.erase(fd);
}

void Driver::wake_at(Time time) {
  wake_at_ = std::min(wake_at_, time);
}

Result<bool> Driver::run(const std::function<Step(Time)>& step) {
  Time busy_at = now();
  Time look_at = busy_at;
  while (true) {
    const Time time = now();
    const link::LinkResult<bool> moved = port_.turn(time);
    if (!moved) return failed(moved.error().message);
    if (wake_at_ <= time) wake_at_ = kNever;
    const Step stepped = step(time);
    if (stepped == Step::done) return true;
    const bool active = *moved || stepped == Step::busy;
    if (time_source_ != nullptr) {
      if (Result<void> passed = let_time_pass(active); !passed) return tl::unexpected(passed.error());
      if (stopped_) return false;
      continue;
    }
    if (active) busy_at = time;
    // Waking up takes a while, so the loop does not sleep when something is due soon.
    const Time until = std::min(port_.next_timeout(), wake_at_);
    const bool sleeps = !active && time - busy_at >= spin_ && until >= time + spin_;
    // The other files are polled now and then even while frames keep coming.
    if (!sleeps && time - look_at < spin_) continue;
    look_at = time;
    wait(!sleeps ? time : until == kNever ? kNever : until - spin_);
    if (stopped_) return false;
    if (Result<void> alive = check_link(); !alive) return tl::unexpected(alive.error());
  }
}

void Driver::follow(link::StreamLink& link) {
  time_source_ = &link;
}

/// Stays at the same time while there is something to do; else tells the clock and waits for the next time.
Result<void> Driver::let_time_pass(bool active) {
  const Time time = now();
  const Time until = std::min(port_.next_timeout(), wake_at_);
  if (asked_) {
    if ((active || until <= time) && ++rounds_ < kRoundsAtOneTime) return {};
    // Frames that the stream has no room for belong to this time, so it cannot end yet.
    if (!port_.wants_to_write()) {
      told_ = until == kNever ? kNever : std::max(until, time + Duration{1});
      asked_ = false;
      // If the link is gone, `take_time` reports it later.
      (void)time_source_->tell_next(told_ == kNever ? std::nullopt : std::optional{told_.time_since_epoch()});
    }
  } else {
    if (active) return {};
    // Work that the clock does not know of came from outside of the simulation.
    const Time wanted = port_.wants_to_write() ? time : std::max(until, time);
    if (wanted < told_) {
      told_ = time;
      (void)time_source_->wake();
    }
  }
  wait(kNever);
  if (stopped_) return {};
  if (Result<void> alive = check_link(); !alive || asked_) return alive;
  const link::LinkResult<std::optional<std::chrono::nanoseconds>> next = time_source_->take_time();
  if (!next) return failed(next.error().message);
  if (!*next) return {};
  clock_.set_simulated(Time{**next});
  asked_ = true;
  rounds_ = 0;
  return {};
}

Result<void> Driver::check_link() {
  if (!std::exchange(link_error_, false)) return {};
  if (const link::LinkResult<void> alive = link_.check(); !alive) return failed(alive.error().message);
  return {};
}

void Driver::settle(Time deadline) {
  for (int round = 0; round < kSettleRounds; ++round) {
    const Time time = now();
    const link::LinkResult<bool> moved = port_.turn(time);
    if (!moved || (!*moved && !port_.wants_to_write()) || time > deadline) return;
  }
}

void Driver::wait(Time until) {
  std::vector<pollfd> set;
  // ppoll ignores an entry whose file descriptor is -1.
  set.push_back({stop_fd_, POLLIN, 0});
  set.push_back({link_.fd(), static_cast<short>(POLLIN | (port_.wants_to_write() ? POLLOUT : 0)), 0});
  set.push_back({port_.neighbour_fd(), POLLIN, 0});
  set.push_back({posted_fd_, POLLIN, 0});
  for (const auto& [fd, watched] : watched_) set.push_back({fd, watched.events, 0});
  timespec timeout{};
  if (until != kNever) {
    const Time time = now();
    const Duration left = until > time ? until - time : Duration{0};
    timeout.tv_sec = static_cast<time_t>(left.count() / 1'000'000'000);
    timeout.tv_nsec = static_cast<long>(left.count() % 1'000'000'000);
  }
  if (::ppoll(set.data(), set.size(), until != kNever ? &timeout : nullptr, nullptr) <= 0) return;
  // It stays readable, so that the loop of each thread sees it.
  if (set[0].revents != 0) stopped_ = true;
  link_error_ = (set[1].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0;
  if (set[2].revents != 0) port_.take_neighbours(now());
  if (set[3].revents != 0) do_posted();
  for (std::size_t i = 4; i < set.size(); ++i) {
    if (set[i].revents == 0) continue;
    // A callback that was called before may have called `forget` for this one.
    const auto found = watched_.find(set[i].fd);
    if (found == watched_.end()) continue;
    const std::function<void(short)> ready = found->second.ready;
    ready(set[i].revents);
  }
}

}  // namespace roce::live
