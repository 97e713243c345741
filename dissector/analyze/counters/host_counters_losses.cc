// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>

#include "analyze/counters/host_counters.h"

namespace roce::analyze {

using analysis::Cause;
using analysis::Verdict;
using analysis::VerdictKind;
using enum HostFact;

const HostCounters::Seen* HostCounters::find(analysis::PacketId id) const {
  const auto place = std::lower_bound(seen_.begin(), seen_.end(), id,
                                      [](const Seen& seen, analysis::PacketId wanted) { return seen.id < wanted; });
  return place != seen_.end() && place->id == id ? &*place : nullptr;
}

void HostCounters::take_back_arrival(const Seen& seen, bool is_sure) {
  // A packet captured at its receiver did arrive there. If the NIC drops it, the NIC's counters differ.
  if (is_here(seen.to)) return;
  FactCounts& receiver = facts(seen.to);
  const auto take_back = [&](HostFact fact, std::int64_t times) {
    if (is_sure) {
      receiver.add(fact, -times);
    } else {
      receiver.unsettle(fact, times);
    }
  };
  take_back(packets_received, 1);
  take_back(bytes_received, seen.bytes);
  if (seen.received_as != count) take_back(seen.received_as, 1);
  if (seen.has_ce) take_back(ce_received, 1);
}

void HostCounters::count_unseen(const Verdict& verdict, std::uint32_t sender) {
  lacks_packets(sender);
  if (sender == kNobody || is_here(sender)) return;
  facts(sender).add(packets_sent, verdict.lost_packets);
}

void HostCounters::on_verdict(const Verdict& verdict) {
  const analysis::VerdictInfo& info = analysis::verdict_info(verdict.kind);
  if (info.time == analysis::VerdictTime::immediate) {
    if (verdict.kind != VerdictKind::ack_of_unseen) return;
  }
  const Seen* seen = find(verdict.packet);
  if (seen == nullptr) {
    for (HostCounts& counts : hosts_) counts.is_whole = false;
    return;
  }
  const std::uint32_t responder = seen->is_response ? seen->from : seen->to;
  switch (verdict.kind) {
    case VerdictKind::request_lost_after:
    case VerdictKind::response_lost_after:
      take_back_arrival(*seen, true);
      break;
    case VerdictKind::response_not_in_time:
      take_back_arrival(*seen, false);
      break;
    case VerdictKind::lost_beyond:
      // Either the request was lost, or its answer was before it reached the capture point.
      take_back_arrival(*seen, false);
      if (!is_here(responder)) facts(responder).doubt(packets_sent);
      break;
    case VerdictKind::no_answer:
      take_back_arrival(*seen, false);
      facts(seen->from).doubt(retries_exceeded);
      break;
    case VerdictKind::request_lost_before:
      // A damaged packet that was seen has been counted already.
      if (verdict.cause != Cause::corrupted) count_unseen(verdict, seen->from);
      break;
    case VerdictKind::response_lost_before:
      count_unseen(verdict, responder);
      break;
    case VerdictKind::lost_for_good:
    case VerdictKind::missed_by_capture:
    case VerdictKind::unexplained:
    case VerdictKind::ack_of_unseen:
      lacks_packets(seen->from);
      lacks_packets(seen->to);
      break;
    default:
      break;
  }
}

}  // namespace roce::analyze
