// SPDX-License-Identifier: BSD-2-Clause
#include "roce/cm/connection.h"

#include <algorithm>
#include <array>
#include <utility>

#include "cm/faults.h"
#include "roce/cm/timers.h"

namespace roce::cm {

std::string_view to_string(State state) {
  constexpr std::array<std::string_view, kStateCount> kNames{
      "none",         "req_sent",     "mra_req_received", "rep_received",     "mra_rep_sent",
      "req_received", "mra_req_sent", "rep_sent",         "mra_rep_received", "established",
      "dreq_sent",    "timewait",     "sidr_req_sent",    "sidr_req_received"};
  return kNames[static_cast<std::size_t>(state)];
}

// CM-QP-1 (the starting PSN in a message is the first that its sender receives)
Agreement Connection::agreement() const {
  Agreement result;
  result.path_mtu = request.path_mtu;
  result.retry_count = request.retry_count;
  result.flow_label = request.primary_flow_label;
  result.traffic_class = request.primary_traffic_class;
  result.hop_limit = request.primary_hop_limit;
  result.timeout = request.primary_local_ack_timeout;
  if (is_active) {
    result.dest_qp = reply.local_qpn;
    result.sq_psn = reply.starting_psn;
    result.rq_psn = request.starting_psn;
    // A peer may grant more than was asked for, which we cannot use.
    result.max_rd_atomic = std::min(reply.responder_resources, request.initiator_depth);
    result.max_dest_rd_atomic = std::min(reply.initiator_depth, request.responder_resources);
    result.rnr_retry = reply.rnr_retry_count;
    result.timeout = std::max(result.timeout, ack_timeout_of(0, reply.target_ack_delay));
  } else {
    result.dest_qp = request.local_qpn;
    result.sq_psn = request.starting_psn;
    result.rq_psn = reply.starting_psn;
    result.max_rd_atomic = reply.initiator_depth;
    result.max_dest_rd_atomic = reply.responder_resources;
    result.rnr_retry = request.rnr_retry_count;
  }
  if (fault(Fault::cm_psn_not_turned)) std::swap(result.sq_psn, result.rq_psn);
  return result;
}

// CM-QP-2 (remote WRITE is allowed; READ and atomics are if there are responder resources)
QpChanges qp_changes(const Agreement& agreement, transport::QpType type, const transport::AddressVector& address,
                     std::uint8_t min_rnr_timer) {
  using transport::Access;
  const bool is_rc = type == transport::QpType::rc;
  QpChanges changes;
  changes.to_init.state = transport::QpState::init;
  changes.to_init.p_key_index = std::uint16_t{0};
  changes.to_init.port = std::uint8_t{1};
  const bool reads = is_rc && agreement.max_dest_rd_atomic > 0;
  changes.to_init.access =
      reads ? Access::remote_write | Access::remote_read | Access::remote_atomic : Access::remote_write;
  changes.to_rtr.state = transport::QpState::rtr;
  changes.to_rtr.address = address;
  changes.to_rtr.path_mtu = to_bytes(agreement.path_mtu);
  changes.to_rtr.dest_qp = agreement.dest_qp;
  changes.to_rtr.rq_psn = agreement.rq_psn;
  changes.to_rts.state = transport::QpState::rts;
  changes.to_rts.sq_psn = agreement.sq_psn;
  if (is_rc) {
    changes.to_rtr.max_dest_rd_atomic = agreement.max_dest_rd_atomic;
    changes.to_rtr.min_rnr_timer = min_rnr_timer;
    changes.to_rts.max_rd_atomic = agreement.max_rd_atomic;
    changes.to_rts.timeout = agreement.timeout;
    changes.to_rts.retry_count = agreement.retry_count;
    changes.to_rts.rnr_retry = agreement.rnr_retry;
  }
  return changes;
}

}  // namespace roce::cm
