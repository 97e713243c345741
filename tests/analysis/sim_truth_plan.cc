// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/sim_truth_plan.h"

#include <fmt/format.h>

#include <array>

namespace roce::sim_truth {

namespace {

template <typename T, std::size_t N>
T pick(sim::Random& random, const std::array<T, N>& from) {
  return from[random.below(N)];
}

constexpr std::uint64_t kReorders = 4;  ///< number of a rule that lets packets be overtaken

std::string random_rules(sim::Random& random, Weather weather) {
  std::string text;
  const std::uint64_t count = 1 + random.below(3);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::string rule;
    switch (weather == Weather::overtaking ? kReorders : random.below(9)) {
      case 0:
      case 1:
      case 2:
        rule = "drop:";
        break;
      case 3:
        rule = "duplicate:copies=1,";
        break;
      case kReorders:
      case kReorders + 1:
        rule = fmt::format("reorder:by={},timeout=5us,", 1 + random.below(3));
        break;
      case 6:
        rule = "corrupt:";
        break;
      case 7:
        rule = "mark_ce:";
        break;
      default:
        rule = fmt::format("drop:op={},",
                           pick(random, std::array<std::string_view, 4>{"ack", "read_response", "nak", "request"}));
    }
    if (!text.empty()) text += "; ";
    if (random.one_in(3)) {
      text += fmt::format("{}nth={}", rule, 1 + random.below(60));
    } else {
      text += fmt::format("{}probability={:.4f}", rule, 0.002 * static_cast<double>(1 + random.below(15)));
    }
  }
  return text;
}

}  // namespace

Plan make_plan(sim::Random& random, std::string_view profile, Weather weather) {
  Plan plan;
  plan.profile = transport::profile_of(profile);
  switch (random.below(8)) {
    case 0:
      plan.path.version = RoceVersion::v2_ipv6;
      break;
    case 1:
      plan.path.version = RoceVersion::v1;
      break;
    default:
      plan.path.version = RoceVersion::v2_ipv4;
  }
  plan.path.vlan = random.one_in(6);
  plan.qps = 1 + random.below(4);
  plan.mtu = pick(random, std::array<std::uint32_t, 5>{256, 512, 1024, 1024, 4096});
  plan.to_a = Duration{static_cast<std::int64_t>(random.below(4) * random.below(2000) + 100)};
  plan.to_b = Duration{static_cast<std::int64_t>(random.below(4) * random.below(2000) + 100)};
  plan.rate_bps = pick(random, std::array<std::uint64_t, 3>{10'000'000'000, 25'000'000'000, 100'000'000'000});
  if (weather != Weather::clean) {
    const std::uint64_t where = random.below(3);
    if (where != 0) plan.first = random_rules(random, weather);
    if (where != 1) plan.second = random_rules(random, weather);
  }
  plan.connection.path = plan.path;
  plan.connection.mtu = plan.mtu;
  plan.connection.timeout = static_cast<std::uint8_t>(10 + random.below(4));
  plan.connection.min_rnr_timer = pick(random, std::array<std::uint8_t, 3>{3, 8, 12});
  plan.connection.rd_atomic = pick(random, std::array<std::uint8_t, 3>{1, 4, 16});
  plan.connection.traffic_class = plan.path.version == RoceVersion::v1 ? 0 : 2;
  return plan;
}

}  // namespace roce::sim_truth
