// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/congestion_report.h"

#include <cstdint>
#include <nlohmann/json.hpp>

namespace roce::live {

nlohmann::ordered_json to_json(const congestion::Reading& reading) {
  return {{"limited", reading.limited},
          {"rate_bps", static_cast<std::uint64_t>(reading.rate_bps + 0.5)},
          {"target_bps", static_cast<std::uint64_t>(reading.target_bps + 0.5)},
          {"alpha", reading.alpha}};
}

}  // namespace roce::live
