// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "roce/link/link.h"
#include "roce/link/stream_link.h"
#include "roce/live/clock.h"
#include "roce/live/result.h"
#include "roce/port/port.h"
#include "roce/wire/time.h"

namespace roce::live {

/// The only event loop: moves a port's frames, calls the program's step, and waits when there is nothing to do. It
/// belongs to one thread; others may call `post`.
class Driver {
 public:
  /// How long to poll before waiting in the kernel, from which it takes tens of microseconds to return.
  static constexpr Duration kSpin = std::chrono::microseconds{50};

  /// All references must outlive the driver. `run` ends once `stop_fd` is readable, and leaves it so: one descriptor
  /// can end the loops of several threads. -1: only `stop` and the step end it.
  Driver(link::Link& link, port::Port& port, Clock& clock, int stop_fd = -1);
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  /// Calls `ready` with the events that poll reports whenever one of `events` (POLLIN, POLLOUT) occurs, until `forget`.
  void watch(int fd, short events, std::function<void(short)> ready);
  void forget(int fd);
  /// Returns the time on the endpoint's clock.
  [[nodiscard]] Time now() const { return clock_.now(); }
  /// Has `step` called at `time` even if nothing happens; the earliest time since the last step counts.
  void wake_at(Time time);
  /// Sets how long to poll before waiting in the kernel.
  void set_spin(Duration spin) { spin_ = spin; }
  /// Has `work` done, in order, by the thread of the loop while it runs; may be called from any thread.
  void post(std::function<void()> work);
  /// Does the posted work; for a thread that is not inside `run`.
  void do_posted();
  /// Ends `run` as `stop_fd` does; for the thread of the loop.
  void stop() { stopped_ = true; }
  /// Takes the time from the other end of `link` from now on, which is the driver's link; the time has begun at 0.
  void follow(link::StreamLink& link);

  /// The result of a step.
  enum class Step : std::uint8_t {
    idle,  ///< nothing was done
    busy,  ///< something was done; there may be more
    done,  ///< the program is finished
  };
  /// Calls `step` after each round of the port until it returns `done` or the loop is stopped. True: done; false:
  /// stopped. Error: the link is gone.
  [[nodiscard]] Result<bool> run(const std::function<Step(Time)>& step);
  /// Runs the port until nothing is left to send or `deadline` has passed, so that the last ACK still goes out.
  void settle(Time deadline);

 private:
  void wait(Time until);
  [[nodiscard]] Result<void> let_time_pass(bool active);
  [[nodiscard]] Result<void> check_link();

  struct Watched {
    short events = 0;
    std::function<void(short)> ready;
  };
  link::Link& link_;
  port::Port& port_;
  std::map<int, Watched> watched_;
  Time wake_at_ = kNever;
  Duration spin_ = kSpin;
  Clock& clock_;
  int stop_fd_;
  int posted_fd_ = -1;  // readable when work was posted
  std::mutex posting_;
  std::vector<std::function<void()>> posted_;
  bool stopped_ = false;
  bool link_error_ = false;
  link::StreamLink* time_source_ = nullptr;
  bool asked_ = false;  // the clock set this time and awaits our answer
  Time told_ = kNever;  // time of our next work, as the clock knows it
  int rounds_ = 0;      // rounds of the port at this time
};

}  // namespace roce::live
