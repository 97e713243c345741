// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "roce/congestion/control.h"

namespace roce::congestion {

/// The reaction point of DCQCN (Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015), with
/// the values of its section 5 as defaults. A QP sends without a limit until its first CNP. Where the paper can be read
/// in two ways, or its authors' simulator does otherwise, there is a parameter; the default is the paper's text.
struct DcqcnParameters {
  double g = 1.0 / 256;                                  ///< weight of a new observation in alpha, above 0 … 1
  Duration alpha_timer = std::chrono::microseconds{55};  ///< alpha decays after so long without a CNP, and then again
  Duration rate_timer = std::chrono::microseconds{55};   ///< time between two increases
  std::uint64_t byte_counter = 10'000'000;               ///< bytes between two increases; 0: only time counts
  /// Increases of fast recovery after a cut. The paper's text says 5; its flow chart, which compares after it has
  /// counted, makes it 4.
  std::uint32_t f = 5;
  std::uint64_t ai_bps = 40'000'000;    ///< step of the target in additive increase
  std::uint64_t hai_bps = 400'000'000;  ///< step in hyper increase; the paper does not give it
  std::uint64_t min_rate_bps = 40'000'000;
  std::uint64_t max_rate_bps = 0;  ///< 0: that of the line. The limiter begins there, and the target stays below
  double initial_alpha = 1;        ///< above 0 … 1
  std::uint32_t burst_bytes = 0;   ///< see `Output`
  // Readings of the authors' simulator.
  bool alpha_before_cut = false;    ///< a CNP raises alpha before it cuts
  bool hyper_from_next = false;     ///< the first hyper increase has two steps
  bool hyper_halves_bytes = false;  ///< in hyper increase the byte counter is half as long
  bool recovers_after_cut = false;  ///< an increase of fast recovery follows each cut at once
};

[[nodiscard]] std::unique_ptr<CongestionControl> make_dcqcn(const DcqcnParameters& parameters);

}  // namespace roce::congestion
