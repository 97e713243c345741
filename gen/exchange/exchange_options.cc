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

transport::QpType ExchangeOptions::qp_type() const {
  if (kind == ExchangeKind::datagram) return transport::QpType::ud;
  return unreliable ? transport::QpType::uc : transport::QpType::rc;
}

std::uint32_t ExchangeOptions::size_of(std::uint64_t number) const {
  constexpr std::uint32_t word = 8;
  return is_atomic() ? word : sizes.of(number);
}

}  // namespace roce::gen
