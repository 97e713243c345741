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

/// Now, on the clock that all of roce-gen counts on: monotonic, or that of a simulation (`Driver::follow`).
[[nodiscard]] Time now();

/// The only event loop: moves a port's frames, calls the program's step, and waits when there is nothing to do. It
/// belongs to one thread; `post` is for others. A signal ends the loops of all threads.
class Driver {
 public:
  /// How long to look again and again before waiting in the kernel, which costs tens of microseconds to come back from.
  static constexpr Duration kSpin = std::chrono::microseconds{50};

  /// Takes SIGINT and SIGTERM over: they end `run`.
  Driver(link::Link& link, port::Port& port);
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  /// Calls `ready` with what poll said whenever one of `events` (POLLIN, POLLOUT) is there, until `forget`.
  void watch(int fd, short events, std::function<void(short)> ready);
  void forget(int fd);
  /// `step` will be called at `time` although nothing happened; the earliest wish since the last step counts.
  void wake_at(Time time);
  void set_spin(Duration spin) { spin_ = spin; }
  /// Has `work` done by the thread of the loop, in order, while it runs; may be called from any thread.
  void post(std::function<void()> work);
  /// Does what was posted; for who runs the loop no more.
  void do_posted();
  /// Ends `run` as a signal does.
  void stop() { stopped_ = true; }
  /// From now on it is always as late as the other end of `clock` says, which is the driver's link, begun at 0.
  void follow(link::StreamLink& clock);

  /// What a step did.
  enum class Step : std::uint8_t {
    idle,  ///< nothing
    busy,  ///< something; there may be more
    done,  ///< the program is finished
  };
  /// Calls `step` after each round of the port until it is `done` or a signal came. True: done, false: signal. Error:
  /// the link is gone.
  [[nodiscard]] Outcome<bool> run(const std::function<Step(Time)>& step);
  /// Rounds of the port until nothing is left to send or `deadline`: the last ACK should still go out.
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
  int posted_fd_ = -1;  // readable when something was posted
  std::mutex posting_;
  std::vector<std::function<void()>> posted_;
  bool stopped_ = false;
  bool link_error_ = false;
  link::StreamLink* clock_ = nullptr;
  bool asked_ = false;  // by it, what is to be done at this time
  Time told_ = kNever;  // when there is something to do, as it knows
  int rounds_ = 0;      // at this time
};

}  // namespace roce::gen
