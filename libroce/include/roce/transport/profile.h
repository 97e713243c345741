// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string_view>

#include "roce/transport/loss_recovery.h"
#include "roce/transport/verbs.h"
#include "roce/wire/aeth.h"
#include "roce/wire/time.h"

namespace roce::transport {

/// The behaviours in which RNICs differ and the specification leaves room, as data. All else is one implementation.
struct Profile {
  std::string_view name;

  // Sending.
  bool mig_req = true;                      ///< MigReq of the BTH; RNICs send 1 (migrated)
  bool mark_ect = true;                     ///< data and ACKs are sent as ECT(0) unless the traffic class has ECN bits
  bool count_ip_id = false;                 ///< IPv4 identification counts up; else it is 0, allowed with DF (RFC 6864)
  std::uint32_t window = 8192;              ///< PSNs that may be in flight, from the oldest unacknowledged one
  std::uint32_t ack_request_interval = 64;  ///< every n-th packet inside a message asks for an ACK
  bool send_cnps = true;                    ///< a packet marked CE is answered with a CNP
  /// AckReq is set in ONLY and LAST packets once per this many messages, or when nothing more is posted.
  std::uint32_t messages_per_ack_request = 1;

  bool gsi_asks_for_ack = false;  ///< AckReq in each packet of QP1, where receivers ignore it

  // Responder.
  std::uint32_t ack_coalesce_packets = 1;  ///< requests with AckReq that one ACK answers; 1: each is answered at once
  Duration ack_coalesce_delay{0};          ///< longest time that an ACK is held back; packets of its QP take it along
  bool send_credits = false;               ///< ACKs grant end-to-end credits when there is no SRQ
  bool nak_behind_rnr = false;             ///< a PSN sequence NAK also for requests that follow one that got an RNR NAK
  bool duplicate_acks_always = false;      ///< a duplicate SEND or WRITE is acknowledged even without AckReq
  bool duplicate_ack_skips_reads = false;  ///< … with the PSN of the last request that was not a READ
  bool read_resumes_in_middle = false;     ///< a READ repeated from its middle is continued with MIDDLE or LAST
  NakCode short_receive_nak = NakCode::invalid_request;
  CompletionStatus short_receive_status = CompletionStatus::local_length_error;
  CompletionStatus bad_receive_key_status = CompletionStatus::local_protection_error;
  bool ack_failed_invalidate = false;  ///< SEND with invalidate of a wrong key is acknowledged (MSN not counted)

  // Requester.
  /// Requests of a wrong opcode or length, atomics at an unaligned address and unknown address handles are queued, and
  /// fail in their turn, as with RNICs; else they are refused at once, which says more: no named profile has it.
  bool late_checks = false;
  bool retry_count_7_is_infinite = false;
  bool read_gap_restarts = true;  ///< a gap in READ responses is requested again at once, else after the timeout
  bool honour_credits = true;
  CompletionStatus oversize_datagram_status = CompletionStatus::local_length_error;  ///< larger than the port MTU
  CompletionStatus bad_response_status = CompletionStatus::bad_response;
  Duration min_rnr_wait{0};  ///< lower bound of RNR waits
  Duration min_timeout{0};   ///< lower bound of ACK timeouts

  LossRecovery recovery{};  ///< of RC, beyond the specification
};

/// Returns the profile of Soft-RoCE as in Linux 6.1 and 6.12.
[[nodiscard]] Profile rxe_profile();
/// Returns the behaviour of most RNICs.
[[nodiscard]] Profile hardware_like_profile();
/// Returns the specification to the letter: one ACK for each request, nothing optional.
[[nodiscard]] Profile strict_profile();
/// Returns the profile named `rxe`, `hardware_like` or `strict`; for any other name a profile without a name.
[[nodiscard]] Profile profile_of(std::string_view name);

}  // namespace roce::transport
