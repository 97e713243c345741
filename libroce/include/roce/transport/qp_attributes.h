// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "roce/transport/address.h"
#include "roce/transport/verbs.h"
#include "roce/wire/types.h"

namespace roce::transport {

/// Properties of a QP that are fixed for its life.
struct QpInit {
  QpType type = QpType::rc;
  Pd pd{};                           ///< XRC targets ignore it: requests name an SRQ, and use its PD
  Cq send_cq{};                      ///< XRC targets ignore it
  Cq receive_cq{};                   ///< both ends of XRC ignore it
  Xrcd xrcd{};                       ///< for XRC targets only
  std::optional<Srq> srq{};          ///< used instead of a receive queue of its own; refused for XRC
  std::uint32_t max_send = 64;       ///< requests posted and not yet completed
  std::uint32_t max_receive = 64;    ///< without an SRQ
  std::uint8_t max_send_sge = 4;     ///< at most `Limits::max_sge`
  std::uint8_t max_receive_sge = 4;  ///< at most `Limits::max_sge`
  std::uint16_t max_inline = 0;      ///< bytes, at most `Limits::max_inline`
  bool signal_all = false;           ///< every request is signaled
};

/// A change of a QP: the members that are set are changed, all or none. The tables of IBTA vol.
/// 1, 10.3.1 and 11.2.5.2, list the members that each transition needs and allows (docs/endpoint.md prints them).
struct QpChange {
  std::optional<QpState> state{};
  std::optional<QpState> current_state{};  ///< the change is refused unless the QP is in this state
  std::optional<std::uint16_t> p_key_index{};
  std::optional<std::uint8_t> port{};  ///< 1
  std::optional<Access> access{};      ///< remote_write, remote_read, remote_atomic, flush_*
  std::optional<QKey> q_key{};
  std::optional<AddressVector> address{};
  std::optional<std::uint32_t> path_mtu{};  ///< bytes: 256, 512, 1024, 2048 or 4096, at most the port's
  std::optional<Qpn> dest_qp{};
  std::optional<Psn> rq_psn{};
  std::optional<Psn> sq_psn{};
  std::optional<std::uint8_t> max_rd_atomic{};       ///< READs and atomics we keep outstanding
  std::optional<std::uint8_t> max_dest_rd_atomic{};  ///< READs and atomics we accept
  std::optional<std::uint8_t> min_rnr_timer{};       ///< timer code 0 … 31
  std::optional<std::uint8_t> timeout{};             ///< local ACK timeout 4.096 us * 2^timeout; 0: none; 0 … 31
  std::optional<std::uint8_t> retry_count{};         ///< 0 … 7
  std::optional<std::uint8_t> rnr_retry{};           ///< 0 … 7; 7: unlimited
  std::optional<bool> sq_drained_notify{};
  std::optional<std::uint64_t> rate_limit_bps{};  ///< bits per second, BTH through ICRC; 0: no limit
  std::optional<std::uint64_t> rate_limit_pps{};  ///< packets per second, as a second limit; 0: no limit
};

/// Result of `query_qp`.
struct QpAttributes {
  QpType type{};
  QpState state{};
  std::uint16_t p_key_index = 0;
  Access access = Access::none;
  QKey q_key{};
  AddressVector address{};
  std::uint32_t path_mtu = 0;  ///< bytes
  Qpn dest_qp{};
  Psn rq_psn{};  ///< the next PSN expected
  Psn sq_psn{};  ///< the next PSN to be used
  std::uint8_t max_rd_atomic = 0;
  std::uint8_t max_dest_rd_atomic = 0;
  std::uint8_t min_rnr_timer = 0;
  std::uint8_t timeout = 0;
  std::uint8_t retry_count = 0;
  std::uint8_t rnr_retry = 0;
  std::uint64_t rate_limit_bps = 0;
  std::uint64_t rate_limit_pps = 0;
  bool sq_draining = false;
  std::uint32_t sends_outstanding = 0;     ///< posted and not yet completed
  std::uint32_t receives_outstanding = 0;  ///< posted and not yet completed
  Msn msn{};                               ///< messages that the responder has completed
  std::uint8_t service_level = 0;
  std::uint8_t traffic_class = 0;  ///< as sent
  std::uint16_t udp_source_port = 0;

  friend bool operator==(const QpAttributes&, const QpAttributes&) = default;
};

}  // namespace roce::transport
