// SPDX-License-Identifier: BSD-2-Clause
// The responses that wait to be sent: how they are made, and which of them one packet answers (IBTA vol. 1, 9.7.5.1).
#include "transport/device_state.h"
#include "transport/faults.h"
#include "transport/scheduler.h"

namespace roce::transport::detail {

namespace {

/// Returns a response with the members that each has.
[[nodiscard]] Response make_response(const Qp& qp, Response::Kind kind, AethSyndrome syndrome, Psn psn) {
  Response response;
  response.kind = kind;
  response.syndrome = syndrome;
  response.psn = psn;
  // RC-RESP-17 (every AETH has the current MSN)
  response.msn = qp.resp.msn;
  return response;
}

Response& queue(DeviceState& device, Qp& qp, const Response& response) {
  Response& queued = qp.resp.responses.push();
  queued = response;
  make_ready(device, qp);
  return queued;
}

}  // namespace

// RC-RESP-25 (credits: the largest code that promises no more receives than are posted)
AethSyndrome ack_syndrome(const DeviceState& device, const Qp& qp) {
  if (!device.profile().send_credits || qp.srq != nullptr || qp.is_xrc()) return AethSyndrome::ack();
  const std::uint32_t posted = qp.resp.queue.size();
  std::uint8_t code = 0;
  while (code < 30 && *AethSyndrome::ack_with_credits(static_cast<std::uint8_t>(code + 1)).credits() <= posted) ++code;
  if (fault(Fault::credits_too_many)) ++code;
  return AethSyndrome::ack_with_credits(code);
}

void answer(DeviceState& device, Qp& qp, AethSyndrome syndrome, Psn psn) {
  Responder& resp = qp.resp;
  const bool is_ack = syndrome.kind() == AethKind::ack;
  if (syndrome.kind() == AethKind::rnr_nak) ++qp.counters.rnr_naks_sent;
  const Response response = make_response(qp, Response::Kind::ack, syndrome, psn);
  if (!resp.responses.empty()) {
    Response& last = resp.responses.back();
    const bool joins = is_ack && last.kind == Response::Kind::ack && last.syndrome.kind() == AethKind::ack &&
                       !last.psn.newer_than(psn) &&
                       (device.profile().ack_coalesce_packets > 1 || !resp.has_room_for_answer());
    // Nothing repeats a NAK that was not sent. The one that finds the queue full takes the place of the NAK in front of
    // it, which it makes obsolete: a NAK acknowledges everything before its PSN (RC-RESP-02, one NAK per gap).
    const bool replaces = !is_ack && resp.responses.full();
    if (joins || replaces) {
      last = response;
      return;
    }
  }
  // An ACK that finds the queue full is dropped: the next ACK makes up for it, or the requester asks again.
  if (is_ack && !resp.has_room_for_ack()) return;
  queue(device, qp, response);
}

Response& answer_with_data(DeviceState& device, Qp& qp, const Reth& reth, Psn psn, std::uint32_t packets) {
  Response response = make_response(qp, Response::Kind::read, ack_syndrome(device, qp), psn);
  response.r_key = reth.r_key;
  response.pd = qp.pd;
  response.value = reth.virtual_address;
  response.length = reth.dma_length;
  response.packets = packets;
  return queue(device, qp, response);
}

Response& answer_with_value(DeviceState& device, Qp& qp, Operation request, Psn psn, std::uint64_t original) {
  const bool is_atomic = request == Operation::compare_swap || request == Operation::fetch_add;
  Response response =
      make_response(qp, is_atomic ? Response::Kind::atomic_ack : Response::Kind::read, ack_syndrome(device, qp), psn);
  response.value = original;
  return queue(device, qp, response);
}

void release_ack(DeviceState& device, Qp& qp) {
  Responder& resp = qp.resp;
  const bool is_held = resp.acks_held != 0;
  resp.drop_held_ack();
  if (is_held) answer(device, qp, ack_syndrome(device, qp), resp.held_psn);
}

}  // namespace roce::transport::detail
