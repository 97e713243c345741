// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/endpoint_counters.h"

#include "roce/live/link_metrics.h"

namespace roce::live {

void add(transport::Counters& sum, const transport::Counters& part) {
  for (const transport::CounterName& name : transport::counter_names()) sum.*name.member += part.*name.member;
}

void add(EndpointCounters& sum, const EndpointCounters& part) {
  add(sum.device, part.device);
  for (const CounterRow<link::LinkCounters>& row : link_counter_rows()) sum.link.*row.member += part.link.*row.member;
  sum.pfc_sent += part.pfc_sent;
  sum.messages += part.messages;
  sum.message_bytes += part.message_bytes;
}

}  // namespace roce::live
