// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string_view>

#include "roce/transport/qp_attributes.h"
#include "roce/wire/cm_messages.h"

namespace roce::cm {

/// Where a connection is in its life (IBTA vol. 1, 12.9.5 and 12.9.7; docs/cm.md has the table of what each message
/// does in each of them).
enum class State : std::uint8_t {
  none,              ///< there is no such connection, or no more
  req_sent,          ///< active: waits for a REP
  mra_req_received,  ///< active: the peer asked for time to answer the REQ
  rep_received,      ///< active: the caller makes its QP ready
  mra_rep_sent,      ///< active: the same, after asking the peer for time
  req_received,      ///< passive: the caller decides
  mra_req_sent,      ///< passive: the same, after asking the peer for time
  rep_sent,          ///< passive: waits for an RTU
  mra_rep_received,  ///< passive: the peer asked for time to answer the REP
  established,
  dreq_sent,          ///< waits for a DREP
  timewait,           ///< packets of the connection may still be under way: its QPN is not to be used again
  sidr_req_sent,      ///< active, of a datagram service: waits for its QP number
  sidr_req_received,  ///< passive, of a datagram service: the caller decides
};
inline constexpr std::uint8_t kStateCount = 14;

/// `rep_sent`
[[nodiscard]] std::string_view to_string(State state);

/// The two ends of a MAD, as RoCE addresses them: QP1 of the hosts with these GIDs.
struct Peer {
  Gid local{};
  Gid remote{};

  friend bool operator==(const Peer&, const Peer&) = default;
};

/// What both sides have agreed on, as one of them needs it for its QP. The sense of the starting PSNs is already
/// turned: what a message calls so is the PSN that its sender receives first (IBTA vol. 1, 12.9.8; CM-QP-1).
struct Agreement {
  Qpn dest_qp{};
  Psn sq_psn{};  ///< the first PSN to be sent
  Psn rq_psn{};  ///< the first PSN to be received
  PathMtu path_mtu{};
  std::uint8_t max_rd_atomic = 0;       ///< READs and atomics that this side may have outstanding
  std::uint8_t max_dest_rd_atomic = 0;  ///< READs and atomics that it has to take
  std::uint8_t timeout = 0;             ///< code of the local ACK timeout
  std::uint8_t retry_count = 0;
  std::uint8_t rnr_retry = 0;
  std::uint32_t flow_label = 0;  ///< of the path; the UDP source port of both directions follows from it
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

/// The changes that make a QP of `type` (RC or UC) the end of a connection. `address` is where it sends to, and
/// `min_rnr_timer` what it tells a peer that it has no receive for (a code; 0: 655.36 ms). Remote WRITE is allowed, and
/// READ and atomics where the agreement has resources for them (CM-QP-2).
[[nodiscard]] QpChanges qp_changes(const Agreement& agreement, transport::QpType type,
                                   const transport::AddressVector& address, std::uint8_t min_rnr_timer = 0);

/// What is known of a connection.
struct Connection {
  CommId local{};   ///< our name for it
  CommId remote{};  ///< the peer's; 0 while unknown
  State state = State::none;
  bool is_active = false;  ///< we sent the REQ
  Peer peer{};
  CmReq request{};
  CmRep reply{};             ///< ours or the peer's; empty before it
  CmSidrReq sidr_request{};  ///< in the two states of a datagram service

  /// What the QP needs; of use once there is a reply.
  [[nodiscard]] Agreement agreement() const;
};

}  // namespace roce::cm
