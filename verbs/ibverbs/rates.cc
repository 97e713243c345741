// SPDX-License-Identifier: BSD-2-Clause
// The rates of InfiniBand as numbers.
#include <algorithm>
#include <array>

#include "verbs/ibverbs/verbs_api.h"

namespace {

struct Rate {
  ibv_rate rate;
  int multiple;  // of 2.5 Gbit/s
  int megabits;  // per second
};

constexpr std::array kRates{
    Rate{IBV_RATE_2_5_GBPS, 1, 2500},     Rate{IBV_RATE_5_GBPS, 2, 5000},        Rate{IBV_RATE_10_GBPS, 4, 10000},
    Rate{IBV_RATE_20_GBPS, 8, 20000},     Rate{IBV_RATE_30_GBPS, 12, 30000},     Rate{IBV_RATE_40_GBPS, 16, 40000},
    Rate{IBV_RATE_60_GBPS, 24, 60000},    Rate{IBV_RATE_80_GBPS, 32, 80000},     Rate{IBV_RATE_120_GBPS, 48, 120000},
    Rate{IBV_RATE_14_GBPS, 6, 14062},     Rate{IBV_RATE_56_GBPS, 22, 56250},     Rate{IBV_RATE_112_GBPS, 45, 112500},
    Rate{IBV_RATE_168_GBPS, 67, 168750},  Rate{IBV_RATE_25_GBPS, 10, 25781},     Rate{IBV_RATE_100_GBPS, 40, 103125},
    Rate{IBV_RATE_200_GBPS, 80, 206250},  Rate{IBV_RATE_300_GBPS, 120, 309375},  Rate{IBV_RATE_28_GBPS, 11, 28125},
    Rate{IBV_RATE_50_GBPS, 20, 53125},    Rate{IBV_RATE_400_GBPS, 160, 425000},  Rate{IBV_RATE_600_GBPS, 240, 637500},
    Rate{IBV_RATE_800_GBPS, 320, 850000}, Rate{IBV_RATE_1200_GBPS, 480, 1275000}};

/// Returns `wanted` of the row whose `known` is `value`, or `otherwise`.
template <typename Known, typename Wanted>
[[nodiscard]] Wanted look_up(Known Rate::*known, Known value, Wanted Rate::*wanted, Wanted otherwise) {
  const auto* const row = std::ranges::find(kRates, value, known);
  return row == kRates.end() ? otherwise : row->*wanted;
}

}  // namespace

int ibv_rate_to_mult(enum ibv_rate rate) {
  return look_up(&Rate::rate, rate, &Rate::multiple, -1);
}

enum ibv_rate mult_to_ibv_rate(int multiple) {
  return look_up(&Rate::multiple, multiple, &Rate::rate, IBV_RATE_MAX);
}

int ibv_rate_to_mbps(enum ibv_rate rate) {
  return look_up(&Rate::rate, rate, &Rate::megabits, -1);
}

enum ibv_rate mbps_to_ibv_rate(int megabits) {
  return look_up(&Rate::megabits, megabits, &Rate::rate, IBV_RATE_MAX);
}
