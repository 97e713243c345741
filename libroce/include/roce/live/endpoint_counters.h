// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "roce/link/link.h"
#include "roce/transport/counters.h"

namespace roce::live {

/// The counters of an endpoint, or their sums over several shards.
struct EndpointCounters {
  transport::Counters device;
  link::LinkCounters link;
  std::uint64_t pfc_sent = 0;
  std::uint64_t messages = 0;  ///< messages of the program itself
  std::uint64_t message_bytes = 0;
};

void add(transport::Counters& sum, const transport::Counters& part);
void add(EndpointCounters& sum, const EndpointCounters& part);

}  // namespace roce::live
