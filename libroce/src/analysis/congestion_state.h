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

/// The bytes that were sent recently, in intervals of `kWidth`.
class RecentBytes {
 public:
  static constexpr std::size_t kIntervals = 16;
  static constexpr Duration kWidth = kReactionWindow / kIntervals;

  void add(Time time, std::uint32_t bytes);

  struct Window {
    std::uint64_t bytes = 0;
    Time begin{};
  };
  /// Returns the bytes sent before `end`, from the start of the interval `kIntervals` - 1 before that of `end`.
  [[nodiscard]] Window before(Time end) const;

 private:
  friend struct StateAccess<RecentBytes>;

  std::array<std::uint32_t, kIntervals> bytes_{};  ///< bytes in each; a sum that is too large stays at the maximum
  std::int64_t newest_ = 0;                        ///< number of the newest interval, counted from the epoch
};

/// A measurement of how a sender reacts to a CNP.
struct Reaction {
  std::optional<Time> begin;  ///< time of the CNP; nullopt if nothing is being measured
  RecentBytes::Window before;
  std::uint64_t bytes_after = 0;
};

/// Congestion of the data of one direction: what is remembered between packets.
struct CongestionState {
  RecentBytes recent;
  std::optional<Time> first_data;
  std::optional<Time> mark;  ///< time of the first mark since the latest CNP
  std::optional<Time> cnp;   ///< time of the latest CNP
  Lazy<Reaction> reaction;
};

}  // namespace roce::analysis
