// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <memory>

#include "analysis/sim_truth_plan.h"
#include "sim/endpoint.h"
#include "sim/network.h"
#include "sim/random.h"

namespace roce::sim_truth {

/// A QP on each host, and the operations of both.
class Traffic {
 public:
  Traffic(sim::SimNetwork& network, sim::Random& random, const Plan& plan, sim::Host& a, sim::Host& b,
          transport::QpType type, Weather weather);

  [[nodiscard]] sim::Endpoint& end(std::size_t i) { return *ends_[i]; }
  [[nodiscard]] Psn psn(std::size_t i) const { return psns_[i]; }

  /// Lets one end do `count` operations from `begin` on; `style`: 0 mixed, 1 READs only, 2 WRITEs only. With `rnr` some
  /// receives are posted too late.
  void plan_operations(std::size_t end, std::size_t count, Duration begin, std::uint64_t style, bool rnr);

 private:
  [[nodiscard]] sim::Work random_work(std::uint64_t style);
  [[nodiscard]] std::uint32_t random_length();

  sim::SimNetwork& network_;
  sim::Random& random_;
  const Plan& plan_;
  bool is_uc_;
  std::array<std::unique_ptr<sim::Endpoint>, 2> ends_;
  std::array<Psn, 2> psns_{};
  std::array<Duration, 2> late_{};
};

}  // namespace roce::sim_truth
