// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/congestion_report.h"

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

namespace roce::live {

nlohmann::ordered_json to_json(const congestion::Reading& reading) {
  return {{"limited", reading.limited},
          {"rate_bps", static_cast<std::uint64_t>(std::llround(reading.rate_bps))},
          {"target_bps", static_cast<std::uint64_t>(std::llround(reading.target_bps))},
          {"alpha", reading.alpha}};
}

}  // namespace roce::live
