// SPDX-License-Identifier: BSD-2-Clause
#include "gen/exchange/exchange_options.h"

#include <algorithm>
#include <numeric>

namespace roce::gen {

std::uint32_t SizePlan::largest() const {
  return *std::max_element(sizes.begin(), sizes.end());
}

std::uint32_t SizePlan::mean() const {
  return static_cast<std::uint32_t>(std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0}) / sizes.size());
}

}  // namespace roce::gen
