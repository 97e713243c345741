// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "roce/analysis/congestion.h"
#include "roce/analysis/lazy.h"
#include "roce/wire/time.h"

namespace roce::analysis {

/// The bytes that were sent lately, in intervals of `kWidth`.
class RecentBytes {
 public:
  static constexpr std::size_t kIntervals = 16;
  static constexpr Duration kWidth = kReactionWindow / kIntervals;

  void add(Time time, std::uint32_t bytes);

  struct Window {
    std::uint64_t bytes = 0;
    Time begin{};
  };
  /// What was sent before `end`, from the begin of the interval `kIntervals` - 1 before that of `end`.
  [[nodiscard]] Window before(Time end) const;

 private:
  friend struct StateAccess<RecentBytes>;

  std::array<std::uint32_t, kIntervals> bytes_{};  ///< in each; what no link can carry counts as the most that fits
  std::int64_t newest_ = 0;                        ///< number of the newest interval since the epoch
};

/// How a sender reacts to a CNP.
struct Reaction {
  std::optional<Time> begin;  ///< none: that is not being measured
  RecentBytes::Window before;
  std::uint64_t bytes_after = 0;
};

/// What is under way of the congestion of one direction's data.
struct CongestionState {
  RecentBytes recent;
  std::optional<Time> first_data;
  std::optional<Time> mark;  ///< the first since the last CNP
  std::optional<Time> cnp;   ///< the last
  Lazy<Reaction> reaction;
};

}  // namespace roce::analysis
