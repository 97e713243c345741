// SPDX-License-Identifier: BSD-2-Clause
#include "roce/transport/traffic_classes.h"

#include <cstddef>

#include "transport/refusal.h"

namespace roce::transport {

using namespace detail;

VerbResult<void> check(const TrafficClasses& classes) {
  constexpr std::uint8_t last_class = 7;
  constexpr unsigned whole = 100;
  unsigned sum = 0;
  bool has_shares = false;
  for (std::size_t i = 0; i < classes.class_of.size(); ++i) {
    if (classes.class_of[i] > last_class) {
      return invalid("traffic_classes.class_of", "at most", classes.class_of[i], last_class);
    }
    const bool is_strict = classes.selection[i] == TransmissionSelection::strict;
    if (is_strict && classes.percent[i] != 0) {
      return invalid("traffic_classes.percent", "a strict class to have 0", classes.percent[i]);
    }
    has_shares = has_shares || !is_strict;
    sum += classes.percent[i];
  }
  if (has_shares && sum != whole) {
    return invalid("traffic_classes.percent", "shares that add up to", sum, whole);
  }
  return {};
}

}  // namespace roce::transport
