// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "roce/wire/time.h"

namespace roce::analysis {

/// How many commands of a queue are under way, over the time in which there are any.
class NvmeDepth {
 public:
  /// Tells that from `time` on one more command is under way.
  void add(Time time);
  /// Tells that from `time` on one command less is under way.
  void remove(Time time);

  [[nodiscard]] std::uint64_t most() const { return most_; }
  /// Returns the mean while there were any; 0 if there were none.
  [[nodiscard]] double mean() const;

 private:
  void count_until(Time time);

  std::uint64_t now_ = 0;
  std::uint64_t most_ = 0;
  Time counted_ = Time::min();  ///< the latest time until which it is counted
  double sum_ns_ = 0;           ///< commands times nanoseconds
  Duration busy_{};
};

}  // namespace roce::analysis
