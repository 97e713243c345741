// SPDX-License-Identifier: BSD-2-Clause
// The responder's sending side: ACKs, NAKs, READ and atomic responses (IBTA vol. 1, 9.7.5.1).
#include <algorithm>
#include <cstring>

#include "roce/wire/atomiceth.h"
#include "transport/device_state.h"
#include "transport/faults.h"
#include "transport/flush.h"
#include "transport/scheduler.h"

namespace roce::transport::detail {

namespace {

/// Sends the one packet of an ACK, NAK or atomic response; false if there is no room.
bool send_acknowledge(DeviceState& device, Qp& qp, const Response& response, Emitter& out, Time now) {
  const bool atomic = response.kind == Response::Kind::atomic_ack;
  const std::size_t headers = kSize<Aeth> + (atomic ? kSize<AtomicAckEth> : 0);
  std::byte* bytes = place(qp, qp.path, out, packet_size(headers, 0));
  if (bytes == nullptr) return false;
  write(bth_of(device, qp, atomic ? Opcode::rc_atomic_acknowledge : Opcode::rc_acknowledge, response.psn), bytes);
  write(Aeth{response.syndrome, response.msn}, bytes + kSize<Bth>);
  if (atomic) write(AtomicAckEth{response.value}, bytes + kSize<Bth> + kSize<Aeth>);
  send_placed(device, qp, out, now);
  return true;
}

// RC-RESP-20 (READ responses are FIRST, MIDDLE, LAST or ONLY)
[[nodiscard]] Opcode read_response_opcode(const Response& response, bool first, bool last) {
  if (response.resumed) return last ? Opcode::rc_read_response_last : Opcode::rc_read_response_middle;
  if (first) return last ? Opcode::rc_read_response_only : Opcode::rc_read_response_first;
  return last ? Opcode::rc_read_response_last : Opcode::rc_read_response_middle;
}

enum class ReadPart : std::uint8_t { sent, no_room, key_gone };

/// Sends the next packet of a READ response. Fetches its data now, and so checks the key again (MEM-12).
ReadPart send_read_part(DeviceState& device, Qp& qp, Response& response, bool first, Emitter& out, Time now) {
  const std::uint32_t length = std::min(response.length, qp.mtu);
  const bool last = response.packets == 1;
  const std::byte* data = nullptr;
  if (length != 0) {
    data = device.memory.remote(response.r_key, response.pd, qp.qpn, response.value, length, Access::remote_read);
    if (data == nullptr && !fault(Fault::key_at_first_only) && !fault(Fault::dup_read_no_key))
      return ReadPart::key_gone;
  }
  const Opcode opcode = read_response_opcode(response, first, last);
  const OpcodeInfo& info = opcode_info(opcode);
  std::byte* bytes = place(qp, qp.path, out, packet_size(info.header_bytes, length));
  if (bytes == nullptr) return ReadPart::no_room;
  Bth bth = bth_of(device, qp, opcode, response.psn);
  bth.pad_count = pad_of(length);
  write(bth, bytes);
  bytes += kSize<Bth>;
  if (info.header_bytes != 0) {
    write(Aeth{response.syndrome, response.msn}, bytes);
    bytes += kSize<Aeth>;
  }
  if (data != nullptr) std::memcpy(bytes, data, length);
  std::memset(bytes + length, 0, bth.pad_count);
  send_placed(device, qp, out, now);
  response.psn = response.psn + 1;
  response.value += length;
  response.length -= length;
  --response.packets;
  return ReadPart::sent;
}

void finish_answer(Qp& qp) {
  if (qp.resp.responses.front().counts) --qp.resp.rd_pending;
  qp.resp.responses.pop();
}

}  // namespace

Served serve_responder(DeviceState& device, Qp& qp, Emitter& out, Time now, std::uint32_t& quantum) {
  Responder& resp = qp.resp;
  // RC-RESP-21 (responses leave in the order of their requests)
  while (!resp.responses.empty()) {
    if (quantum == 0) return Served::more;
    Response& response = resp.responses.front();
    if (response.kind != Response::Kind::read) {
      if (!send_acknowledge(device, qp, response, out, now)) return Served::no_room;
      finish_answer(qp);
      --quantum;
      continue;
    }
    const bool first = !response.started;
    switch (send_read_part(device, qp, response, first, out, now)) {
      case ReadPart::sent:
        response.started = true;
        --quantum;
        if (response.packets == 0) finish_answer(qp);
        break;
      case ReadPart::no_room:
        return Served::no_room;
      case ReadPart::key_gone: {
        // RC-RESP-19 (if the key of a READ went away meanwhile: NAK 0x62 at that PSN)
        ++qp.counters.responder_access_errors;
        const Psn psn = response.psn;
        resp.responses.clear();
        resp.rd_pending = 0;
        answer(device, qp, AethSyndrome::nak(NakCode::remote_access_error), psn);
        device.report(Event{.type = EventType::qp_access_error, .qpn = qp.qpn});
        if (!fault(Fault::nak_no_err)) enter_error(device, qp, true);
        break;
      }
    }
  }
  return Served::idle;
}

}  // namespace roce::transport::detail
