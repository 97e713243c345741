// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <deque>

#include "roce/analysis/nvme.h"
#include "roce/wire/time.h"

namespace roce::analysis {

/// The times in which packets of a connection had to be sent again before it went on; the latest ones.
class NvmeRecoveries {
 public:
  /// Adds the time from `begin` to `end`; `is_not_ready`: an RNR NAK was the reason, not a loss.
  void add(Time begin, Time end, bool is_not_ready);
  /// Sets where most of the time of a command went, and how much of it was lost. `capsule_end` is the time of the last
  /// packet of its capsule.
  void explain(NvmeExchange& exchange, Time capsule_end) const;

 private:
  static constexpr std::size_t kMost = 256;

  struct Recovery {
    Time begin{};
    Time end{};
    bool is_not_ready = false;
  };

  struct Held {
    Duration lost{};
    Duration not_ready{};
  };

  /// Returns how much of a time, at whose end something came, was spent waiting for recoveries.
  [[nodiscard]] Held held_up(Time begin, Time end) const;

  std::deque<Recovery> recoveries_;  ///< in order, without overlaps
};

}  // namespace roce::analysis
