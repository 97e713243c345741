// SPDX-License-Identifier: BSD-2-Clause
#include "runtime/rate.h"

#include "text/human_units.h"

namespace roce::runtime {

Outcome<Rate> parse_rate(const std::string& text) {
  if (const auto bits = text::parse_bit_rate(text)) return Rate{.bps = *bits, .pps = 0};
  if (const auto packets = text::parse_packet_rate(text)) return Rate{.bps = 0, .pps = *packets};
  return cannot("\"" + text + "\" is no rate; write it like 100G, 2.5Gbit, 800Mbit, 100kpps or 5000pps");
}

}  // namespace roce::runtime
