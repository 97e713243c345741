// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string_view>

#include "roce/transport/qp_attributes.h"
#include "roce/wire/cm_messages.h"

namespace roce::cm {

/// State of a connection (IBTA vol. 1, 12.9.5 and 12.9.7;
/// docs/cm.md has a table of what each message does in each state).
enum class State : std::uint8_t {
  none,              ///< the connection does not exist, or no longer
  req_sent,          ///< active: waits for a REP
  mra_req_received,  ///< active: the peer asked for time to answer the REQ
  rep_received,      ///< active: the caller makes its QP ready
  mra_rep_sent,      ///< active: as `rep_received`, after asking the peer for time
  req_received,      ///< passive: the caller decides
  mra_req_sent,      ///< passive: as `req_received`, after asking the peer for time
  rep_sent,          ///< passive: waits for an RTU
  mra_rep_received,  ///< passive: the peer asked for time to answer the REP
  established,
  dreq_sent,          ///< waits for a DREP
  timewait,           ///< packets of the connection may still be on their way: its QPN must not be used again
  sidr_req_sent,      ///< active, datagram service: waits for the QP number
  sidr_req_received,  ///< passive, datagram service: the caller decides
};
inline constexpr std::uint8_t kStateCount = 14;

/// Returns a text such as `rep_sent`.
[[nodiscard]] std::string_view to_string(State state);

/// The two ends of a MAD, as RoCE addresses them: QP1 of the hosts with these GIDs.
struct Peer {
  Gid local{};
  Gid remote{};

  friend bool operator==(const Peer&, const Peer&) = default;
};

/// The parameters that both sides have agreed on, as one side needs them for its QP. The starting PSNs are
/// already exchanged: the one in a message is the first PSN that its sender receives (IBTA vol. 1, 12.9.8; CM-QP-1).
struct Agreement {
  Qpn dest_qp{};
  Psn sq_psn{};  ///< the first PSN to be sent
  Psn rq_psn{};  ///< the first PSN to be received
  PathMtu path_mtu{};
  std::uint8_t max_rd_atomic = 0;       ///< READs and atomics that this side may have outstanding
  std::uint8_t max_dest_rd_atomic = 0;  ///< READs and atomics that this side has to accept
  std::uint8_t timeout = 0;             ///< code of the local ACK timeout
  std::uint8_t retry_count = 0;
  std::uint8_t rnr_retry = 0;
  std::uint32_t flow_label = 0;  ///< flow label of the path; the UDP source port of both directions follows from it
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 0;

  friend bool operator==(const Agreement&, const Agreement&) = default;
};

/// The changes that take an RC or UC QP to RTS.
struct QpChanges {
  transport::QpChange to_init{};
  transport::QpChange to_rtr{};
  transport::QpChange to_rts{};
};

/// Returns the changes that make a QP of `type` (RC or UC) one end of a connection. `address` is the destination
/// of the QP, and `min_rnr_timer` the wait that it asks of a peer for which it has no receive (a code; 0: 655.36 ms).
/// Remote WRITE is allowed, and READ and atomics if the agreement has resources for them (CM-QP-2).
[[nodiscard]] QpChanges qp_changes(const Agreement& agreement, transport::QpType type,
                                   const transport::AddressVector& address, std::uint8_t min_rnr_timer = 0);

/// The state of a connection and the messages that set it up.
struct Connection {
  CommId local{};   ///< our communication identifier
  CommId remote{};  ///< the peer's communication identifier; 0 while unknown
  State state = State::none;
  bool is_active = false;  ///< we sent the REQ
  Peer peer{};
  CmReq request{};
  CmRep reply{};             ///< ours or the peer's; empty while there is none
  CmSidrReq sidr_request{};  ///< valid in the two states of a datagram service

  /// Returns the parameters for the QP; complete once there is a reply.
  [[nodiscard]] Agreement agreement() const;
};

}  // namespace roce::cm
