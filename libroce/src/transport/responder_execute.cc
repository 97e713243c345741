// SPDX-License-Identifier: BSD-2-Clause
// The responder's work for each kind of request (IBTA vol. 1, 9.7.4, 9.7.5; annex A19 for FLUSH and ATOMIC WRITE).
#include "transport/responder_execute.h"

#include <cstring>

#include "roce/wire/atomiceth.h"
#include "roce/wire/feth.h"
#include "roce/wire/ieth.h"
#include "roce/wire/immdt.h"
#include "roce/wire/reth.h"

namespace roce::transport::detail {

namespace {

constexpr std::uint32_t kMaxMessage = 1U << 31;

// RC-RESP-04 (inside a SEND or WRITE only its own MIDDLE and LAST may come, outside neither)
[[nodiscard]] bool in_order(Responder::Open open, const OpcodeInfo& info) {
  const bool starts = info.position == Position::first || info.position == Position::only;
  if (open == Responder::Open::nothing) return starts;
  const Operation expected = open == Responder::Open::send ? Operation::send : Operation::write;
  return !starts && info.operation == expected;
}

// RC-RESP-05 (the QP's access flags have to allow the operation)
[[nodiscard]] bool qp_allows(const Qp& qp, const Request& request) {
  const Access access = qp.access;
  switch (request.info.operation) {
    case Operation::write:
    case Operation::atomic_write:
      return allows(access, Access::remote_write);
    case Operation::read_request:
      return allows(access, Access::remote_read);
    case Operation::compare_swap:
    case Operation::fetch_add:
      return allows(access, Access::remote_atomic);
    case Operation::flush: {
      const auto feth = *request.packet.get<Feth>();
      return allows(access, feth.persistence ? Access::flush_persistent : Access::flush_global);
    }
    default:
      return true;
  }
}

[[nodiscard]] Replay& new_replay(Responder& resp) {
  return resp.replays[resp.next_replay++ & (resp.replays.size() - 1)];
}

/// True if max_dest_rd_atomic, rounded up, allows one more READ or atomic (RC-RESP-06).
[[nodiscard]] bool may_take_rd_atomic(const Qp& qp) {
  return qp.attributes.max_dest_rd_atomic != 0 && qp.resp.rd_pending < qp.resp.replays.size();
}

// RC-RESP-31 (the receive's completion has immediate data, the invalidated key and the bytes)
void complete_message(DeviceState& device, Qp& qp, const Request& request, std::uint32_t length, bool write) {
  Completion completion{};
  completion.wr_id = qp.resp.receive.wr_id;
  completion.opcode = write ? CompletionOpcode::receive_write_with_immediate : CompletionOpcode::receive;
  completion.byte_length = length;
  completion.qpn = qp.qpn;
  if (const std::optional<ImmDt> immediate = request.packet.get<ImmDt>()) {
    completion.has_immediate = true;
    completion.immediate = immediate->data;
  }
  if (const std::optional<Ieth> ieth = request.packet.get<Ieth>()) {
    completion.has_invalidated = true;
    completion.invalidated = ieth->r_key;
  }
  complete_receive(device, qp, completion, request.bth.solicited);
}

Outcome execute_send(DeviceState& device, Qp& qp, Request& request) {
  Responder& resp = qp.resp;
  const Position position = request.info.position;
  if (position == Position::first || position == Position::only) {
    if (!take_receive(device, qp)) return Outcome::not_ready;
    resp.receive_offset = 0;
  }
  if (!payload_fits(request.info.payload, request.packet.payload_length(), qp.mtu)) {
    return request.refuse(NakCode::invalid_request, CompletionStatus::local_qp_operation_error);
  }
  const Profile& profile = device.profile();
  const std::span<const Sge> sges{resp.receive_sges.data(), resp.receive.sge_count};
  switch (scatter(device, qp.receive_pd, sges, resp.receive_offset, request.packet.payload())) {
    case Scattered::done:
      break;
    case Scattered::too_long:
      ++qp.counters.local_length_errors;
      // RC-RESP-13 (a receive too short for its SEND: NAK 0x61 or 0x63 by profile)
      return request.refuse(profile.short_receive_nak, profile.short_receive_status);
    case Scattered::bad_key:
      return request.refuse(NakCode::remote_operational_error, profile.bad_receive_key_status);
  }
  resp.receive_offset += request.packet.payload_length();
  resp.open = Responder::Open::send;
  if (position == Position::first || position == Position::middle) return Outcome::executed;

  resp.open = Responder::Open::nothing;
  ++qp.counters.sends_received;
  if (const std::optional<Ieth> ieth = request.packet.get<Ieth>()) {
    // RC-RESP-16 (a key that cannot be invalidated sends the QP to ERR without a NAK)
    if (!device.memory.invalidate(ieth->r_key, qp.pd, qp.qpn)) {
      if (profile.ack_failed_invalidate && request.bth.ack_req) {
        answer(device, qp, ack_syndrome(device, qp), request.bth.psn);
      }
      request.refusal.receive_status = CompletionStatus::remote_invalid_request;
      return Outcome::failed;
    }
  }
  ++resp.msn;
  complete_message(device, qp, request, static_cast<std::uint32_t>(resp.receive_offset), false);
  return Outcome::executed;
}

/// True if a WRITE's packet fits the length that the RETH announced (RC-RESP-09).
[[nodiscard]] bool write_length_fits(const Qp& qp, const Request& request) {
  const std::uint32_t length = request.packet.payload_length();
  const bool ends = request.info.position == Position::last || request.info.position == Position::only;
  return ends ? length == qp.resp.write_left : length == qp.mtu && qp.resp.write_left > qp.mtu;
}

Outcome execute_write(DeviceState& device, Qp& qp, Request& request) {
  Responder& resp = qp.resp;
  const bool ends = request.info.position == Position::last || request.info.position == Position::only;
  const bool immediate = request.info.immediate;
  // RC-RESP-10 (key, PD, right or range wrong: NAK 0x62)
  const auto refuse_access = [&] {
    ++qp.counters.responder_access_errors;
    return request.refuse(NakCode::remote_access_error,
                          immediate ? CompletionStatus::local_access_error : CompletionStatus::success);
  };
  if (immediate && !take_receive(device, qp)) return Outcome::not_ready;
  if (!payload_fits(request.info.payload, request.packet.payload_length(), qp.mtu)) {
    return request.refuse(NakCode::invalid_request);
  }
  std::byte* to = nullptr;
  if (const std::optional<Reth> reth = request.packet.get<Reth>()) {
    if (reth->dma_length > kMaxMessage) return request.refuse(NakCode::invalid_request);
    // RC-RESP-11 (the key of a WRITE of no bytes is not checked)
    if (reth->dma_length != 0) {
      to = device.memory.remote(reth->r_key, qp.pd, qp.qpn, reth->virtual_address, reth->dma_length,
                                Access::remote_write);
      if (to == nullptr) return refuse_access();
    }
    resp.write_address = reth->virtual_address;
    resp.write_key = reth->r_key;
    resp.write_left = resp.write_total = reth->dma_length;
  }
  if (!write_length_fits(qp, request)) return request.refuse(NakCode::invalid_request);
  if (const Bytes payload = request.packet.payload(); !payload.empty()) {
    if (to == nullptr) {
      // MEM-12 (keys are checked for each packet): the key may have been taken away since the first one.
      to =
          device.memory.remote(resp.write_key, qp.pd, qp.qpn, resp.write_address, payload.size(), Access::remote_write);
      if (to == nullptr) return refuse_access();
    }
    std::memcpy(to, payload.data(), payload.size());
    resp.write_address += payload.size();
    resp.write_left -= static_cast<std::uint32_t>(payload.size());
  }
  resp.open = ends ? Responder::Open::nothing : Responder::Open::write;
  if (!ends) return Outcome::executed;
  ++resp.msn;
  ++qp.counters.write_requests;
  if (immediate) complete_message(device, qp, request, resp.write_total, true);
  return Outcome::executed;
}

/// Accepts a READ. Nothing is read yet: the response fetches the data packet by packet when it is sent.
Outcome execute_read(DeviceState& device, Qp& qp, Request& request) {
  Responder& resp = qp.resp;
  if (!may_take_rd_atomic(qp)) return request.refuse(NakCode::invalid_request);
  const auto reth = *request.packet.get<Reth>();
  if (reth.dma_length > kMaxMessage || request.packet.payload_length() != 0) {
    return request.refuse(NakCode::invalid_request);
  }
  // RC-RESP-11 (the key of a READ of no bytes is not checked)
  if (reth.dma_length != 0 && device.memory.remote(reth.r_key, qp.pd, qp.qpn, reth.virtual_address, reth.dma_length,
                                                   Access::remote_read) == nullptr) {
    ++qp.counters.responder_access_errors;
    return request.refuse(NakCode::remote_access_error);
  }
  // RC-RESP-17 (the MSN counts a READ when it is accepted)
  ++qp.counters.read_requests;
  ++resp.msn;
  const std::uint32_t packets = reth.dma_length == 0 ? 1 : (reth.dma_length + qp.mtu - 1) / qp.mtu;
  new_replay(resp) = {.operation = request.info.operation,
                      .psn_count = packets,
                      .position = resp.position,
                      .r_key = reth.r_key,
                      .length = reth.dma_length,
                      .address = reth.virtual_address};
  resp.acks_held = 0;
  resp.ack_due = kNever;
  Response& response = resp.responses.push();
  response = {};
  response.kind = Response::Kind::read;
  response.counts = true;
  response.psn = request.bth.psn;
  response.msn = resp.msn;
  response.syndrome = ack_syndrome(device, qp);
  response.r_key = reth.r_key;
  response.value = reth.virtual_address;
  response.length = reth.dma_length;
  response.packets = packets;
  ++resp.rd_pending;
  // RC-RESP-18 (a READ moves the expected PSN by the packets of its response; IBTA vol. 1, 9.7.2)
  resp.advance(packets - 1);
  return Outcome::executed;
}

/// Queues the response to an atomic, or the empty READ response to an ATOMIC WRITE or FLUSH.
void answer_at_once(DeviceState& device, Qp& qp, const Request& request, std::uint64_t original = 0) {
  Responder& resp = qp.resp;
  // A FLUSH does not count against max_rd_atomic, so it must not take the place of a request that does.
  const bool counts = request.info.operation != Operation::flush;
  resp.acks_held = 0;
  resp.ack_due = kNever;
  Response& response = resp.responses.push();
  response = {};
  response.kind = Response::kind_for(request.info.operation);
  response.counts = counts;
  response.psn = request.bth.psn;
  response.msn = resp.msn;
  response.syndrome = ack_syndrome(device, qp);
  response.value = original;
  if (counts) ++resp.rd_pending;
}

Outcome execute_atomic(DeviceState& device, Qp& qp, Request& request) {
  if (!may_take_rd_atomic(qp)) return request.refuse(NakCode::invalid_request);
  const auto header = *request.packet.get<AtomicEth>();
  if (request.packet.payload_length() != 0) return request.refuse(NakCode::invalid_request);
  std::uint64_t value = 0;
  std::byte* at =
      device.memory.remote(header.r_key, qp.pd, qp.qpn, header.virtual_address, sizeof value, Access::remote_atomic);
  if (at == nullptr) {
    ++qp.counters.responder_access_errors;
    return request.refuse(NakCode::remote_access_error);
  }
  // RC-RESP-12 (an atomic at an address that is not a multiple of 8: NAK 0x61)
  if (header.virtual_address % sizeof value != 0) return request.refuse(NakCode::invalid_request);
  ++qp.counters.atomic_requests;
  std::memcpy(&value, at, sizeof value);
  // RC-RESP-32 (an atomic answers with the value before, in the byte order of the host)
  const std::uint64_t original = value;
  if (request.info.operation == Operation::fetch_add) {
    value += header.swap_or_add;
  } else if (value == header.compare) {
    value = header.swap_or_add;
  }
  std::memcpy(at, &value, sizeof value);
  ++qp.resp.msn;
  new_replay(qp.resp) = {.operation = request.info.operation,
                         .psn_count = 1,
                         .position = qp.resp.position,
                         .r_key = header.r_key,
                         .address = header.virtual_address,
                         .original = original};
  answer_at_once(device, qp, request, original);
  return Outcome::executed;
}

Outcome execute_atomic_write(DeviceState& device, Qp& qp, Request& request) {
  constexpr std::uint32_t operand = 8;
  if (!may_take_rd_atomic(qp)) return request.refuse(NakCode::invalid_request);
  const auto reth = *request.packet.get<Reth>();
  // RC-RESP-14 (an ATOMIC WRITE has exactly 8 bytes and no pad: else NAK 0x61)
  if (request.packet.payload_length() != operand || request.bth.pad_count != 0 || reth.dma_length != operand) {
    return request.refuse(NakCode::invalid_request);
  }
  std::byte* at = device.memory.remote(reth.r_key, qp.pd, qp.qpn, reth.virtual_address, operand, Access::remote_write);
  if (at == nullptr) {
    ++qp.counters.responder_access_errors;
    return request.refuse(NakCode::remote_access_error);
  }
  if (reth.virtual_address % operand != 0) return request.refuse(NakCode::invalid_request);
  std::memcpy(at, request.packet.payload().data(), operand);
  ++qp.resp.msn;
  new_replay(qp.resp) = {.operation = request.info.operation,
                         .psn_count = 1,
                         .position = qp.resp.position,
                         .r_key = reth.r_key,
                         .address = reth.virtual_address};
  answer_at_once(device, qp, request);
  return Outcome::executed;
}

/// Executes a FLUSH. Written data is visible in memory at once here, so only the rights are left to check (RC-RESP-15).
Outcome execute_flush(DeviceState& device, Qp& qp, Request& request) {
  const auto feth = *request.packet.get<Feth>();
  const auto reth = *request.packet.get<Reth>();
  if (request.packet.payload_length() != 0 || (!feth.persistence && !feth.visibility)) {
    return request.refuse(NakCode::invalid_request);
  }
  Access needed = Access::none;
  if (feth.visibility) needed = needed | Access::flush_global;
  if (feth.persistence) needed = needed | Access::flush_persistent;
  bool allowed = false;
  if (feth.selectivity == FlushSelectivity::memory_region) {
    std::uint64_t address = 0;
    std::uint64_t length = 0;
    allowed = device.memory.remote_range(reth.r_key, qp.pd, qp.qpn, needed, address, length);
  } else {
    allowed = device.memory.remote(reth.r_key, qp.pd, qp.qpn, reth.virtual_address, reth.dma_length, needed) != nullptr;
  }
  if (!allowed) {
    ++qp.counters.responder_access_errors;
    return request.refuse(NakCode::remote_access_error);
  }
  Responder& resp = qp.resp;
  ++resp.msn;
  // The QP allows FLUSH, so the ring of positions has been allocated.
  resp.flushes[resp.next_flush++ % Responder::kFlushes] = resp.position;
  answer_at_once(device, qp, request);
  return Outcome::executed;
}

}  // namespace

Outcome execute(DeviceState& device, Qp& qp, Request& request) {
  if (!in_order(qp.resp.open, request.info)) return request.refuse(NakCode::invalid_request);
  if (!qp_allows(qp, request)) return request.refuse(NakCode::invalid_request);
  // RC-RESP-08 (payload and pad have to fit the opcode and the path MTU: else NAK 0x61)
  if (request.bth.pad_count != ((0 - request.packet.payload_length()) & 3)) {
    return request.refuse(NakCode::invalid_request);
  }
  const bool is_answered = request.info.operation != Operation::send && request.info.operation != Operation::write;
  if (is_answered && !qp.resp.has_room_for_answer()) return Outcome::dropped;
  switch (request.info.operation) {
    case Operation::send:
      return execute_send(device, qp, request);
    case Operation::write:
      return execute_write(device, qp, request);
    case Operation::read_request:
      return execute_read(device, qp, request);
    case Operation::compare_swap:
    case Operation::fetch_add:
      return execute_atomic(device, qp, request);
    case Operation::atomic_write:
      return execute_atomic_write(device, qp, request);
    case Operation::flush:
      return execute_flush(device, qp, request);
    default:
      return request.refuse(NakCode::invalid_request);
  }
}

}  // namespace roce::transport::detail
