// SPDX-License-Identifier: BSD-2-Clause
#include "roce/transport/profile.h"

#include <chrono>

namespace roce::transport {

Profile rxe_profile() {
  Profile p;
  p.name = "rxe";
  // Soft-RoCE has neither path migration nor ECN: it marks no packets and ignores marks.
  p.mig_req = false;
  p.mark_ect = false;
  p.send_cnps = false;
  // Its packets leave through the kernel's IP layer, which numbers them.
  p.count_ip_id = true;
  p.window = 128;
  // 65 packets of a message go without AckReq, then one has it. The end of each message always has it.
  p.ack_request_interval = 66;
  p.messages_per_ack_request = 1;
  p.gsi_asks_for_ack = true;
  // A datagram larger than the port MTU is not sent, and no error is reported.
  p.oversize_datagram_status = CompletionStatus::success;

  // Each request with AckReq is answered at once, with the syndrome that grants no credits.
  p.ack_coalesce_packets = 1;
  p.ack_coalesce_delay = Duration{0};
  p.send_credits = false;
  // After a NAK for the expected PSN it sends no other until that PSN comes. The request that gets an RNR NAK has the
  // expected PSN, so the requests after it look like a new gap.
  p.nak_behind_rnr = true;
  // A duplicate SEND or WRITE is acknowledged with or without AckReq, from a register that READs do not advance.
  p.duplicate_acks_always = true;
  p.duplicate_ack_skips_reads = true;
  // A READ that is requested again from its middle continues the old response, without a new FIRST.
  p.read_resumes_in_middle = true;
  // It treats a receive that is too short or has a bad key as a failed operation, not as a fault of packet or peer.
  p.short_receive_nak = NakCode::remote_operational_error;
  p.short_receive_status = CompletionStatus::local_qp_operation_error;
  p.bad_receive_key_status = CompletionStatus::local_qp_operation_error;
  // It acknowledges the SEND before it finds that the key cannot be invalidated.
  p.ack_failed_invalidate = true;

  p.retry_count_7_is_infinite = true;
  // A READ response that is not the next one is dropped; the ACK timer notices the gap.
  p.read_gap_restarts = false;
  p.honour_credits = false;
  p.bad_response_status = CompletionStatus::local_qp_operation_error;
  p.min_rnr_wait = Duration{0};
  return p;
}

Profile hardware_like_profile() {
  Profile p;
  p.name = "hardware_like";
  // An ACK acknowledges everything before it: busy RNICs answer several requests with one ACK, after a short delay.
  p.ack_coalesce_packets = 16;
  p.ack_coalesce_delay = std::chrono::microseconds{10};
  p.messages_per_ack_request = 1;
  // The ACKs of a captured RNIC carry credits.
  p.send_credits = true;
  return p;
}

Profile strict_profile() {
  Profile p;
  p.name = "strict";
  p.mark_ect = true;
  // With more than half of the PSN space in flight, new packets look like duplicates; this is half of what is allowed.
  p.window = 1U << 22;
  p.ack_coalesce_packets = 1;
  p.ack_coalesce_delay = Duration{0};
  // A responder whose QP has its own receive queue has to grant credits (IBTA vol. 1, 9.7.7.2.1).
  p.send_credits = true;
  p.honour_credits = true;
  p.bad_response_status = CompletionStatus::bad_response;
  return p;
}

Profile profile_of(std::string_view name) {
  if (name == "rxe") return rxe_profile();
  if (name == "hardware_like") return hardware_like_profile();
  if (name == "strict") return strict_profile();
  return {};
}

}  // namespace roce::transport
