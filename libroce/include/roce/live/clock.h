// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>

#include "roce/wire/time.h"

namespace roce::live {

/// The time of an endpoint: that of the machine's monotonic clock, or of a simulation. Belongs to one thread.
class Clock {
 public:
  [[nodiscard]] Time now() const;
  /// Makes `now` return `time` from now on, until the next call.
  void set_simulated(Time time) { simulated_ = time; }
  [[nodiscard]] bool is_simulated() const { return simulated_.has_value(); }

 private:
  std::optional<Time> simulated_;
};

}  // namespace roce::live
