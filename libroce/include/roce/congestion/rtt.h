// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "roce/congestion/control.h"

namespace roce::congestion {

/// A controller by delay: algorithm 1 of TIMELY (Mittal et al., "TIMELY: RTT-based Congestion Control for the
/// Datacenter", SIGCOMM 2015), with one step for each sample of the round trip. CNPs do not count. Flows do not have
/// to become equal with it (Zhu et al., "ECN or Delay", CoNEXT 2016).
struct RttParameters {
  Duration t_low = std::chrono::microseconds{50};    ///< below it the rate grows whatever the trend is
  Duration t_high = std::chrono::microseconds{500};  ///< above it the rate falls whatever the trend is
  Duration min_rtt = std::chrono::microseconds{20};  ///< unit of the trend
  double ewma = 0.875;                               ///< weight of a new difference in the trend, above 0 … 1
  double beta = 0.8;                                 ///< strength of a decrease, above 0 … 1
  std::uint64_t add_bps = 10'000'000;                ///< step of an increase
  std::uint32_t hai_after = 5;                       ///< so many increases in a row, and the next are five steps
  std::uint64_t min_rate_bps = 10'000'000;
  std::uint64_t max_rate_bps = 0;  ///< 0: that of the line
  std::uint32_t burst_bytes = 0;   ///< see `Output`
};

[[nodiscard]] std::unique_ptr<CongestionControl> make_rtt(const RttParameters& parameters);

}  // namespace roce::congestion
