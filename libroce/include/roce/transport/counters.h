// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace roce::transport {

/// Counts of events, per QP and per device. The members are named for what the endpoint observes;
/// `kCounterNames` gives the names under which operators know them.
struct Counters {
  std::uint64_t sent_packets = 0;
  std::uint64_t sent_bytes = 0;  ///< BTH through ICRC
  std::uint64_t received_packets = 0;
  std::uint64_t received_bytes = 0;  ///< BTH through ICRC
  std::uint64_t sends_posted = 0;
  std::uint64_t sends_received = 0;

  // Responder.
  std::uint64_t write_requests = 0;
  std::uint64_t read_requests = 0;
  std::uint64_t atomic_requests = 0;
  std::uint64_t duplicate_requests = 0;
  std::uint64_t out_of_sequence = 0;
  std::uint64_t out_of_buffer = 0;
  std::uint64_t rnr_naks_sent = 0;
  std::uint64_t acks_deferred = 0;
  std::uint64_t local_length_errors = 0;
  std::uint64_t responder_access_errors = 0;
  std::uint64_t responder_cqe_errors = 0;
  std::uint64_t responder_cqe_flushed = 0;

  // Requester.
  std::uint64_t rnr_naks_received = 0;
  std::uint64_t sequence_naks_received = 0;
  std::uint64_t implied_naks = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t retransmitted_packets = 0;
  std::uint64_t retries_exceeded = 0;
  std::uint64_t rnr_retries_exceeded = 0;
  std::uint64_t remote_access_errors = 0;
  std::uint64_t remote_invalid_requests = 0;
  std::uint64_t remote_operation_errors = 0;
  std::uint64_t requester_cqe_errors = 0;
  std::uint64_t requester_cqe_flushed = 0;

  // Congestion.
  std::uint64_t ce_received = 0;
  std::uint64_t cnps_sent = 0;
  std::uint64_t cnps_handled = 0;
  std::uint64_t cnps_ignored = 0;

  // Dropped without an answer.
  std::uint64_t icrc_errors = 0;
  /// Cut short, not RoCE, in a tunnel, with an unknown opcode or a wrong version, or addressed to nobody here.
  std::uint64_t malformed = 0;
  std::uint64_t wrong_mac = 0;           ///< RoCE to an Ethernet address other than the device's and its groups'
  std::uint64_t ip_options = 0;          ///< IPv4 options or IPv6 extension headers present
  std::uint64_t ip_checksum_errors = 0;  ///< wrong checksum of the IPv4 header
  std::uint64_t unknown_qp = 0;
  std::uint64_t wrong_state = 0;    ///< the QP's state or type does not accept the packet
  std::uint64_t wrong_address = 0;  ///< not from or to the addresses of the connection
  std::uint64_t p_key_violations = 0;
  std::uint64_t q_key_violations = 0;
  std::uint64_t ghost_acks = 0;  ///< responses outside the window

  friend bool operator==(const Counters&, const Counters&) = default;
};

/// One counter and its names; a name is empty where that vendor has none.
struct CounterName {
  std::uint64_t Counters::*member;
  std::string_view name;  ///< our own name
  std::string_view rxe;   ///< hw_counters of Soft-RoCE
  std::string_view mlx5;  ///< hw_counters of mlx5
  std::string_view help;  ///< one sentence for users: what is counted
};

/// Returns all counters with their names.
[[nodiscard]] std::span<const CounterName> counter_names();

}  // namespace roce::transport
