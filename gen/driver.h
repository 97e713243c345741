// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <map>

#include "gen/failure.h"
#include "roce/link/link.h"
#include "roce/port/port.h"
#include "roce/wire/time.h"
#include "runtime/clock.h"

namespace roce::gen {

using runtime::now;

/// The only event loop: moves a port's frames, calls the program's step, and waits when there is nothing to do.
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
  bool stopped_ = false;
  bool link_error_ = false;
};

}  // namespace roce::gen
