// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "gen/failure.h"
#include "roce/link/link.h"
#include "roce/link/stream_link.h"
#include "roce/port/port.h"
#include "roce/wire/time.h"
#include "runtime/clock.h"

namespace roce::gen {

/// Returns the time on the clock that all of roce-gen uses: monotonic, or that of a simulation (`Driver::follow`).
[[nodiscard]] Time now();

/// The only event loop: moves a port's frames, calls the program's step, and waits when there is nothing to do. It
/// belongs to one thread; others may call `post`. A signal ends the loops of all threads.
class Driver {
 public:
  /// How long to poll before waiting in the kernel, from which it takes tens of microseconds to return.
  static constexpr Duration kSpin = std::chrono::microseconds{50};

  /// Takes SIGINT and SIGTERM over: they end `run`.
  Driver(link::Link& link, port::Port& port);
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  /// Calls `ready` with the events that poll reports whenever one of `events` (POLLIN, POLLOUT) occurs, until `forget`.
  void watch(int fd, short events, std::function<void(short)> ready);
  void forget(int fd);
  /// Has `step` called at `time` even if nothing happens; the earliest time since the last step counts.
  void wake_at(Time time);
  void set_spin(Duration spin) { spin_ = spin; }
  /// Has `work` done, in order, by the thread of the loop while it runs; may be called from any thread.
  void post(std::function<void()> work);
  /// Does the posted work; for a thread that is not inside `run`.
  void do_posted();
  /// Ends `run` as a signal does.
  void stop() { stopped_ = true; }
  /// Takes the time from the other end of `clock` from now on; `clock` is the driver's link, and time has begun at 0.
  void follow(link::StreamLink& clock);

  /// The result of a step.
  enum class Step : std::uint8_t {
    idle,  ///< nothing was done
    busy,  ///< something was done; there may be more
    done,  ///< the program is finished
  };
  /// Calls `step` after each round of the port until it returns `done` or
  /// a signal comes. True: done; false: signal. Error: the link is gone.
  [[nodiscard]] Outcome<bool> run(const std::function<Step(Time)>& step);
  /// Runs the port until nothing is left to send or `deadline` has passed, so that the last ACK still goes out.
  void settle(Time deadline);

 private:
  void wait(Time until);
  [[nodiscard]] Outcome<void> let_time_pass(bool active);
  [[nodiscard]] Outcome<void> check_link();

  struct Watched {
    short events = 0;
    std::function<void(short)> ready;
  };
  link::Link& link_;
  port::Port& port_;
  std::map<int, Watched> watched_;
  Time wake_at_ = kNever;
  Duration spin_ = kSpin;
  int signals_ = -1;
  int posted_fd_ = -1;  // readable when work was posted
  std::mutex posting_;
  std::vector<std::function<void()>> posted_;
  bool stopped_ = false;
  bool link_error_ = false;
  link::StreamLink* clock_ = nullptr;
  bool asked_ = false;  // the clock set this time and awaits our answer
  Time told_ = kNever;  // time of our next work, as the clock knows it
  int rounds_ = 0;      // rounds of the port at this time
};

}  // namespace roce::gen
