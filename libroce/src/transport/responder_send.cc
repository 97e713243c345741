// SPDX-License-Identifier: BSD-2-Clause
// The responder's sending side: ACKs, NAKs, READ responses, responses to duplicates (IBTA vol. 1, 9.7.5.1, 9.7.5.3).
#include <algorithm>
#include <cstring>

#include "roce/wire/atomiceth.h"
#include "roce/wire/reth.h"
#include "transport/device_state.h"

namespace roce::transport::detail {

namespace {

constexpr std::uint32_t kIcrcSize = 4;

[[nodiscard]] Bth bth_of(const DeviceState& device, const Qp& qp, Opcode opcode, Psn psn) {
  Bth bth;
  bth.opcode = opcode;
  bth.mig_req = device.profile().mig_req;
  bth.p_key = qp.p_key;
  bth.dest_qp = qp.dest_qp;
  bth.psn = psn;
  return bth;
}

/// Sends the one packet of an ACK, NAK or atomic response; false if there is no room.
bool send_acknowledge(DeviceState& device, Qp& qp, const Response& response, Emitter& out, Time now) {
  const bool atomic = response.kind == Response::Kind::atomic_ack;
  const std::size_t size = kSize<Bth> + kSize<Aeth> + (atomic ? kSize<AtomicAckEth> : 0) + kIcrcSize;
  std::byte* bytes = place(qp, qp.path, out, static_cast<std::uint32_t>(size));
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
    data = device.memory.remote(response.r_key, qp.pd, qp.qpn, response.value, length, Access::remote_read);
    if (data == nullptr) return ReadPart::key_gone;
  }
  const Opcode opcode = read_response_opcode(response, first, last);
  const OpcodeInfo& info = opcode_info(opcode);
  const std::uint32_t pad = (0 - length) & 3;
  std::byte* bytes =
      place(qp, qp.path, out, static_cast<std::uint32_t>(kSize<Bth>) + info.header_bytes + length + pad + kIcrcSize);
  if (bytes == nullptr) return ReadPart::no_room;
  Bth bth = bth_of(device, qp, opcode, response.psn);
  bth.pad_count = static_cast<std::uint8_t>(pad);
  write(bth, bytes);
  bytes += kSize<Bth>;
  if (info.header_bytes != 0) {
    write(Aeth{response.syndrome, response.msn}, bytes);
    bytes += kSize<Aeth>;
  }
  if (length != 0) std::memcpy(bytes, data, length);
  std::memset(bytes + length, 0, pad);
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

/// True if the response to a READ or atomic is still to be sent, wholly or in part.
[[nodiscard]] bool read_is_pending(Responder& resp) {
  for (std::uint32_t i = 0; i < resp.responses.size(); ++i) {
    if (resp.responses[i].kind != Response::Kind::ack) return true;
  }
  return false;
}

// RC-RESP-26 (a duplicate SEND or WRITE is acknowledged, not executed)
void duplicate_send_or_write(DeviceState& device, Qp& qp, const Bth& bth) {
  Responder& resp = qp.resp;
  const Profile& profile = device.profile();
  if (!bth.ack_req && !profile.duplicate_acks_always) return;
  // RC-RESP-23 (no ACK passes a READ or atomic response that is due): the peer would take that response for lost.
  if (!profile.duplicate_ack_skips_reads && read_is_pending(resp)) return;
  release_ack(device, qp);
  answer(device, qp, ack_syndrome(device, qp),
         profile.duplicate_ack_skips_reads ? resp.last_non_read_psn : resp.e_psn - 1);
}

/// Takes a READ that is requested again, whole or from one of its packets on: it is executed again if it asks for the
/// same data to the same end (RC-RESP-27).
void duplicate_read(DeviceState& device, Qp& qp, const Packet& packet, const Bth& bth) {
  Responder& resp = qp.resp;
  const auto reth = *packet.get<Reth>();
  const std::uint64_t position = resp.position_of(bth.psn);
  const Replay* replay = resp.replay_at(position);
  if (replay == nullptr || replay->operation != Operation::read_request || packet.payload_length() != 0) return;
  const std::uint64_t index = position - replay->position;
  const std::uint64_t skipped = index * qp.mtu;
  if (reth.r_key != replay->r_key || reth.virtual_address != replay->address + skipped ||
      skipped + reth.dma_length != replay->length) {
    return;
  }
  if (!resp.has_room_for_answer()) return;
  Response& response = resp.responses.push();
  response = {};
  response.kind = Response::Kind::read;
  // RC-RESP-30 (a READ requested from its middle gets FIRST or ONLY again, or MIDDLE and LAST, by profile)
  response.resumed = index != 0 && device.profile().read_resumes_in_middle;
  response.psn = bth.psn;
  response.msn = resp.msn;
  response.syndrome = ack_syndrome(device, qp);
  response.r_key = reth.r_key;
  response.value = reth.virtual_address;
  response.length = reth.dma_length;
  response.packets = replay->psn_count - static_cast<std::uint32_t>(index);
  make_ready(device, qp);
}

/// Queues once more the response to an atomic, or the empty READ response to an ATOMIC WRITE or FLUSH.
void answer_again(DeviceState& device, Qp& qp, const Packet& packet, Psn psn, std::uint64_t original = 0) {
  Responder& resp = qp.resp;
  if (!resp.has_room_for_answer()) return;
  Response& response = resp.responses.push();
  response = {};
  response.kind = Response::kind_for(packet.info().operation);
  response.psn = psn;
  response.msn = resp.msn;
  response.syndrome = ack_syndrome(device, qp);
  response.value = original;
  make_ready(device, qp);
}

/// Answers an atomic or ATOMIC WRITE from the store, never executing it again, if it is the one executed (RC-RESP-28).
void duplicate_atomic(DeviceState& device, Qp& qp, const Packet& packet, Psn psn, std::uint64_t address, RKey r_key) {
  const Replay* replay = qp.resp.replay_at(qp.resp.position_of(psn));
  if (replay == nullptr || replay->operation != packet.info().operation || replay->address != address ||
      replay->r_key != r_key) {
    return;
  }
  answer_again(device, qp, packet, psn, replay->original);
}

/// True if a FLUSH was executed at a position. A position older than all that are remembered counts as executed too: a
/// requester may have any number of FLUSHes under way, and cannot go on without their responses.
[[nodiscard]] bool was_flushed(const Responder& resp, std::uint64_t position) {
  if (resp.flushes.empty()) return false;
  const std::uint64_t oldest = resp.flushes[resp.next_flush % Responder::kFlushes];
  return (oldest != 0 && position < oldest) || std::ranges::find(resp.flushes, position) != resp.flushes.end();
}

}  // namespace

void on_duplicate(DeviceState& device, Qp& qp, const Packet& packet, const Bth& bth, Time) {
  const Responder& resp = qp.resp;
  ++qp.counters.duplicate_requests;
  switch (packet.info().operation) {
    case Operation::send:
    case Operation::write:
      duplicate_send_or_write(device, qp, bth);
      break;
    case Operation::read_request:
      duplicate_read(device, qp, packet, bth);
      break;
    case Operation::compare_swap:
    case Operation::fetch_add:
      if (const auto header = *packet.get<AtomicEth>(); packet.payload_length() == 0) {
        duplicate_atomic(device, qp, packet, bth.psn, header.virtual_address, header.r_key);
      }
      break;
    case Operation::atomic_write:
      if (const auto reth = *packet.get<Reth>(); packet.payload_length() == reth.dma_length) {
        duplicate_atomic(device, qp, packet, bth.psn, reth.virtual_address, reth.r_key);
      }
      break;
    case Operation::flush:
      // RC-RESP-34 (a duplicate FLUSH is answered at once if it was executed): what it flushed stays flushed.
      if (packet.payload_length() == 0 && was_flushed(resp, resp.position_of(bth.psn))) {
        answer_again(device, qp, packet, bth.psn);
      }
      break;
    default:
      break;
  }
}

Served serve_responder(DeviceState& device, Qp& qp, Emitter& out, std::uint32_t& quantum, Time now) {
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
        enter_error(device, qp, true);
        break;
      }
    }
  }
  return Served::idle;
}

}  // namespace roce::transport::detail
