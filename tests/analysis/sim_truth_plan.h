// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/sim_truth.h"
#include "roce/transport/profile.h"
#include "sim/endpoint.h"
#include "sim/random.h"

namespace roce::sim_truth {

/// The composition of a run.
struct Plan {
  transport::Profile profile;
  sim::Path path{};
  std::size_t qps = 1;
  std::uint32_t mtu = 1024;
  Duration to_a{};
  Duration to_b{};
  std::uint64_t rate_bps = 0;
  std::string first;   ///< fault rules between A and the capture point
  std::string second;  ///< fault rules between the capture point and B
  sim::Connection connection{};
};

[[nodiscard]] Plan make_plan(sim::Random& random, std::string_view profile, Weather weather);

}  // namespace roce::sim_truth
