// SPDX-License-Identifier: BSD-2-Clause
// The engine's own thread: it serves the port while no thread of the program polls.
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <thread>

#include "verbs/engine/engine.h"

namespace roce::verbs {

namespace {

using std::chrono::microseconds;

/// The thread goes on looking for so long before it sleeps, and yields in between: to wake up takes about as long, and
/// takes the processor from a program that polls.
constexpr Duration kSpin = microseconds{50};
/// Requests that wait to leave with later ones are the program's for so long: it posts more, and sends them itself
/// (`kMostUnsentPosts`), or polls.
constexpr Duration kMergeTime = microseconds{20};
/// A program that has polled this often in vain, and within this time, serves the port itself.
constexpr std::uint32_t kPollsInARow = 32;
constexpr Duration kPollRest = microseconds{64};
/// The thread looks whether the program still polls after as long, and after twice as long each time that it does, up
/// to this: to look takes the processor from a program that polls.
constexpr Duration kLongestRest = microseconds{1024};
/// A daemon that has ended is noticed within this time, or when the thread wakes up.
constexpr Duration kDaemonInterval = std::chrono::milliseconds{100};
constexpr unsigned long kTimerSlack = 1000;  // ns; with Linux's own 50 us the first rest would be twice as long

[[nodiscard]] timespec timespec_of(Duration duration) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(duration);
  return {.tv_sec = seconds.count(), .tv_nsec = (duration - seconds).count()};
}

}  // namespace

bool Engine::program_polls() const {
  // In one order with `is_resting_`, which `stop_resting` reads.
  if (empty_polls_.load() < kPollsInARow) return false;
  return now().time_since_epoch() - Duration{last_poll_.load(std::memory_order_relaxed)} < kPollRest;
}

bool Engine::program_posts() const {
  return now().time_since_epoch() - Duration{last_merged_post_.load(std::memory_order_relaxed)} < kMergeTime;
}

void Engine::serve() {
  (void)::prctl(PR_SET_NAME, "roce-verbs");
  (void)::prctl(PR_SET_TIMERSLACK, kTimerSlack);
  Time busy_at = now();
  Time daemon_at = busy_at;
  Time looked_at = busy_at;
  Duration length = kPollRest;  // of the next rest
  while (!is_ending_.load(std::memory_order_relaxed) && !is_gone_.load(std::memory_order_relaxed)) {
    if (now() - daemon_at > kDaemonInterval) {
      daemon_at = now();
      look_after_port_daemon();
    }
    if (now() - looked_at > kCountInterval) {
      looked_at = now();
      const std::scoped_lock lock{mutex_};
      count(looked_at);
    }
    if (program_polls()) {
      rest(length);
      length = std::min(2 * length, kLongestRest);
      continue;
    }
    length = kPollRest;
    if (program_posts()) {
      ::sched_yield();
      continue;
    }
    // A mutex is not fair: a thread of the program that waits for it goes first.
    if (waiting_.load(std::memory_order_relaxed) != 0) ::sched_yield();
    bool moved = false;
    {
      const std::scoped_lock lock{mutex_};
      moved = turn_port();
      settle();
    }
    if (moved) {
      busy_at = now();
    } else if (now() - busy_at < kSpin) {
      ::sched_yield();
    } else {
      wait();
    }
  }
}

void Engine::rest(Duration longest) {
  is_resting_ = true;
  if (program_polls()) {
    pollfd bell{.fd = wakeup_.fd(), .events = POLLIN, .revents = 0};
    const timespec left = timespec_of(longest);
    (void)::ppoll(&bell, 1, &left, nullptr);
  }
  is_resting_ = false;
  wakeup_.clear();
}

void Engine::look_after_port_daemon() {
  std::byte nothing{};
  if (!port_daemon_ || ::recv(port_daemon_.get(), &nothing, sizeof nothing, MSG_DONTWAIT | MSG_PEEK) < 0) return;
  // It says nothing after its answer, so that only its end can be read.
  const std::scoped_lock lock{mutex_};
  lose("roce-portd, which held UDP port 4791 for this program, has ended");
}

void Engine::wait() {
  std::array<pollfd, 4> polled{};
  Time until = kNever;
  {
    const std::scoped_lock lock{mutex_};
    count(now());
    until = due();
    sleeps_until_ = until;
    const bool writes = port_.wants_to_write();
    polled[0] = {.fd = link_->fd(), .events = static_cast<short>(writes ? POLLIN | POLLOUT : POLLIN), .revents = 0};
    polled[1] = {.fd = wakeup_.fd(), .events = POLLIN, .revents = 0};
    polled[2] = {.fd = port_daemon_.get(), .events = POLLIN, .revents = 0};
    polled[3] = {.fd = link_->group_fd(), .events = POLLIN, .revents = 0};
  }
  if (is_ending_.load(std::memory_order_relaxed)) return;
  // "At once" is a time too early to be subtracted from.
  const Time time = now();
  const timespec left = timespec_of(until > time ? until - time : Duration{0});
  (void)::ppoll(polled.data(), polled.size(), until == kNever ? nullptr : &left, nullptr);
  wakeup_.clear();
  if (polled[2].revents != 0) look_after_port_daemon();
  const std::scoped_lock lock{mutex_};
  sleeps_until_.reset();
  if ((polled[1].revents & POLLNVAL) != 0) return lose("the program has closed descriptors that it did not open");
  if ((polled[0].revents & (POLLERR | POLLNVAL)) == 0) return;
  if (const link::LinkResult<void> alive = link_->check(); !alive) lose(alive.error().message);
}

}  // namespace roce::verbs
