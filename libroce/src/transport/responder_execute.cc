// SPDX-License-Identifier: BSD-2-Clause
// The responder's work for each kind of request (IBTA vol. 1, 9.7.4, 9.7.5; annex A19 for FLUSH and ATOMIC WRITE).
#include "transport/responder_execute.h"

#include <atomic>
#include <cstring>

#include "roce/wire/atomiceth.h"
#include "roce/wire/constants.h"
#include "roce/wire/feth.h"
#include "roce/wire/ieth.h"
#include "roce/wire/reth.h"
#include "transport/emitter.h"
#include "transport/faults.h"
#include "transport/receive_queue.h"
#include "transport/xrc.h"

namespace roce::transport::detail {

namespace {

// RC-RESP-04 (inside a SEND or WRITE only its own MIDDLE and LAST may come, outside neither)
[[nodiscard]] bool in_order(Responder::Open open, const OpcodeInfo& info) {
  if (fault(Fault::middle_starts) && open == Responder::Open::nothing) return true;
  if (fault(Fault::first_restarts) && info.begins_message()) return true;
  if (fault(Fault::write_in_send) && open != Responder::Open::nothing) return !info.begins_message();
  if (open == Responder::Open::nothing) return info.begins_message();
  const Operation expected = open == Responder::Open::send ? Operation::send : Operation::write;
  return !info.begins_message() && info.operation == expected;
}

/// Returns the rights that a FLUSH needs: one for each placement that it asks for.
[[nodiscard]] Access flush_rights(const Feth& feth) {
  Access needed = Access::none;
  if (feth.visibility) needed = needed | Access::flush_global;
  if (feth.persistence) needed = needed | Access::flush_persistent;
  return needed;
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
    case Operation::flush:
      return allows(access, flush_rights(*request.packet.get<Feth>()));
    default:
      return true;
  }
}

/// Forgets the open messages of all other QPs.
void close_others(const DeviceState& device, const Qp& qp) {
  for (const std::unique_ptr<Qp>& other : device.qps) {
    if (other != nullptr && other.get() != &qp) other->resp.open = Responder::Open::nothing;
  }
}

[[nodiscard]] Replay& new_replay(Responder& resp) {
  if (fault(Fault::replay_one_short) && resp.next_replay % resp.replays.size() == 0) ++resp.next_replay;
  return resp.replays[resp.next_replay++ & (resp.replays.size() - 1)];
}

/// True if max_dest_rd_atomic, rounded up, allows one more READ or atomic (RC-RESP-06).
[[nodiscard]] bool may_take_rd_atomic(const Qp& qp) {
  return (qp.attributes.max_dest_rd_atomic != 0 || fault(Fault::depth_0_ok)) &&
         qp.resp.rd_pending < qp.resp.replays.size();
}

Execution execute_send(DeviceState& device, Qp& qp, Request& request) {
  bool needs_receive = request.info.begins_message();
  if (fault(Fault::middle_starts)) needs_receive = true;
  if (fault(Fault::write_in_send)) needs_receive = true;
  if (needs_receive && !take_receive(device, qp)) return Execution::not_ready;
  if (!has_fitting_payload(request.packet, qp.mtu)) {
    return request.refuse(NakCode::invalid_request, CompletionStatus::local_qp_operation_error);
  }
  const Profile& profile = device.profile();
  switch (take_send_payload(device, qp, request.packet)) {
    case Scattered::done:
      break;
    case Scattered::too_long:
      ++qp.counters.local_length_errors;
      // RC-RESP-13 (a receive too short for its SEND: NAK 0x61 or 0x63 by profile)
      return request.refuse(profile.short_receive_nak, profile.short_receive_status);
    case Scattered::bad_key:
      if (fault(Fault::receive_key_ignored)) break;
      return request.refuse(NakCode::remote_operational_error, profile.bad_receive_key_status);
  }
  if (!request.info.ends_message()) return Execution::done;
  if (const std::optional<Ieth> ieth = request.packet.get<Ieth>()) {
    // RC-RESP-16 (a key that cannot be invalidated sends the QP to ERR without a NAK)
    if (!device.memory.invalidate(ieth->r_key, qp.pd, qp.qpn) && !fault(Fault::invalidate_any)) {
      if (profile.ack_failed_invalidate && request.bth.ack_req) {
        answer(device, qp, ack_syndrome(device, qp), request.bth.psn);
      }
      request.refusal.receive_status = CompletionStatus::remote_invalid_request;
      return Execution::failed;
    }
  }
  complete_message(device, qp, request.packet, request.bth);
  return Execution::done;
}

Execution execute_write(DeviceState& device, Qp& qp, Request& request) {
  const bool immediate = request.info.immediate;
  if (fault(Fault::rnr_for_write) && !take_receive(device, qp)) return Execution::not_ready;
  if (fault(Fault::rnr_at_first) && request.info.begins_message() && !take_receive(device, qp))
    return Execution::not_ready;
  if (immediate && !take_receive(device, qp)) return Execution::not_ready;
  if (!has_fitting_payload(request.packet, qp.mtu)) {
    return request.refuse(NakCode::invalid_request);
  }
  switch (take_write_payload(device, qp, request.packet)) {
    case Written::done:
      break;
    case Written::bad_length:
      return request.refuse(NakCode::invalid_request);
    case Written::no_access:
      return request.refuse(NakCode::remote_access_error,
                            immediate ? CompletionStatus::local_access_error : CompletionStatus::success);
  }
  if (request.info.ends_message()) complete_message(device, qp, request.packet, request.bth);
  return Execution::done;
}

/// Counts the response to a READ, atomic or ATOMIC WRITE against max_dest_rd_atomic until it is sent.
void count_rd_atomic(Responder& resp, Response& response) {
  response.counts = true;
  ++resp.rd_pending;
}

/// Accepts a READ. Nothing is read yet: the response fetches the data packet by packet when it is sent.
Execution execute_read(DeviceState& device, Qp& qp, Request& request) {
  Responder& resp = qp.resp;
  if (!may_take_rd_atomic(qp)) return request.refuse(NakCode::invalid_request);
  auto reth = *request.packet.get<Reth>();
  if (fault(Fault::request_payload_shifts)) reth.virtual_address += request.packet.payload_length();
  if (fault(Fault::huge_ok)) reth.dma_length &= kMaxMessage - 1;
  if (reth.dma_length > kMaxMessage ||
      (request.packet.payload_length() != 0 && !fault(Fault::request_payload_shifts))) {
    return request.refuse(NakCode::invalid_request);
  }
  if (fault(Fault::zero_checks_key) && names_wrong_key(device, qp, request.packet)) {
    return request.refuse(NakCode::remote_access_error);
  }
  // RC-RESP-11 (the key of a READ of no bytes is not checked)
  if (reth.dma_length != 0 && device.memory.remote(reth.r_key, qp.pd, qp.qpn, reth.virtual_address, reth.dma_length,
                                                   Access::remote_read) == nullptr) {
    ++qp.counters.responder_access_errors;
    return request.refuse(NakCode::remote_access_error);
  }
  // RC-RESP-17 (the MSN counts a READ when it is accepted)
  ++qp.counters.read_requests;
  if (!fault(Fault::msn_late)) ++resp.msn;
  const std::uint32_t packets = reth.dma_length == 0 ? 1 : (reth.dma_length + qp.mtu - 1) / qp.mtu;
  new_replay(resp) = {.operation = request.info.operation,
                      .psn_count = packets,
                      .position = resp.position,
                      .r_key = reth.r_key,
                      .pd = qp.pd,
                      .length = reth.dma_length,
                      .address = reth.virtual_address};
  resp.drop_held_ack();
  if (fault(Fault::ack_passes_read)) answer(device, qp, ack_syndrome(device, qp), request.bth.psn);
  count_rd_atomic(resp, answer_with_data(device, qp, reth, request.bth.psn, packets));
  // RC-RESP-18 (a READ moves the expected PSN by the packets of its response; IBTA vol. 1, 9.7.2)
  if (!fault(Fault::read_takes_one)) resp.advance(packets - 1);
  if (fault(Fault::msn_late)) ++resp.msn;
  return Execution::done;
}

/// Returns what a FETCH ADD or COMPARE SWAP makes of a value.
[[nodiscard]] std::uint64_t changed(std::uint64_t value, Operation operation, const AtomicEth& header) {
  if (operation == Operation::fetch_add) return value + header.swap_or_add;
  return value == header.compare ? header.swap_or_add : value;
}

/// Changes a value in memory by one step, and returns the one before.
[[nodiscard]] std::uint64_t change(std::byte* at, Operation operation, const AtomicEth& header) {
  using Value = std::atomic_ref<std::uint64_t>;
  std::uint64_t before = 0;
  std::memcpy(&before, at, sizeof before);
  // RC-RESP-35 (an atomic is one for the processor too): a region may begin at an address that is aligned for the peer
  // alone, and there no processor has such a step.
  if (reinterpret_cast<std::uintptr_t>(at) % Value::required_alignment != 0) {
    const std::uint64_t after = changed(before, operation, header);
    std::memcpy(at, &after, sizeof after);
    return before;
  }
  const Value value{*reinterpret_cast<std::uint64_t*>(at)};
  while (!value.compare_exchange_weak(before, changed(before, operation, header))) {
  }
  return before;
}

Execution execute_atomic(DeviceState& device, Qp& qp, Request& request) {
  if (!may_take_rd_atomic(qp)) return request.refuse(NakCode::invalid_request);
  const auto header = *request.packet.get<AtomicEth>();
  if (request.packet.payload_length() != 0) return request.refuse(NakCode::invalid_request);
  constexpr std::uint32_t operand = 8;
  std::byte* at =
      device.memory.remote(header.r_key, qp.pd, qp.qpn, header.virtual_address, operand, Access::remote_atomic);
  if (at == nullptr) {
    ++qp.counters.responder_access_errors;
    return request.refuse(NakCode::remote_access_error);
  }
  // RC-RESP-12 (an atomic at an address that is not a multiple of 8: NAK 0x61)
  if (header.virtual_address % operand != 0 && !fault(Fault::atomic_unaligned))
    return request.refuse(NakCode::invalid_request);
  ++qp.counters.atomic_requests;
  // RC-RESP-32 (an atomic answers with the value before, in the byte order of the host)
  std::uint64_t original = change(at, request.info.operation, header);
  if (fault(Fault::atomic_value_late)) original = changed(original, request.info.operation, header);
  if (fault(Fault::atomic_raw_order)) original = __builtin_bswap64(original);
  ++qp.resp.msn;
  new_replay(qp.resp) = {.operation = request.info.operation,
                         .psn_count = 1,
                         .position = qp.resp.position,
                         .r_key = header.r_key,
                         .address = header.virtual_address,
                         .original = original};
  qp.resp.drop_held_ack();
  count_rd_atomic(qp.resp, answer_with_value(device, qp, request.info.operation, request.bth.psn, original));
  return Execution::done;
}

Execution execute_atomic_write(DeviceState& device, Qp& qp, Request& request) {
  constexpr std::uint32_t operand = 8;
  if (!may_take_rd_atomic(qp)) return request.refuse(NakCode::invalid_request);
  const auto reth = *request.packet.get<Reth>();
  // RC-RESP-14 (an ATOMIC WRITE has exactly 8 bytes and no pad: else NAK 0x61)
  const bool fits =
      request.packet.payload_length() == operand && request.bth.pad_count == 0 && reth.dma_length == operand;
  if (!fits && !fault(Fault::atomic_write_any_length)) return request.refuse(NakCode::invalid_request);
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
  qp.resp.drop_held_ack();
  count_rd_atomic(qp.resp, answer_with_value(device, qp, request.info.operation, request.bth.psn));
  return Execution::done;
}

/// Executes a FLUSH. Written data is visible in memory at once here, so only the rights are left to check (RC-RESP-15).
Execution execute_flush(DeviceState& device, Qp& qp, Request& request) {
  const auto feth = *request.packet.get<Feth>();
  const auto reth = *request.packet.get<Reth>();
  if (request.packet.payload_length() != 0 || (!feth.persistence && !feth.visibility)) {
    return request.refuse(NakCode::invalid_request);
  }
  const Access needed = flush_rights(feth);
  bool allowed = false;
  if (feth.selectivity == FlushSelectivity::memory_region) {
    std::uint64_t address = 0;
    std::uint64_t length = 0;
    allowed = device.memory.remote_range(reth.r_key, qp.pd, qp.qpn, needed, address, length);
  } else {
    allowed = device.memory.remote(reth.r_key, qp.pd, qp.qpn, reth.virtual_address, reth.dma_length, needed) != nullptr;
  }
  if (!allowed && !fault(Fault::flush_right_ignored)) {
    ++qp.counters.responder_access_errors;
    return request.refuse(NakCode::remote_access_error);
  }
  Responder& resp = qp.resp;
  ++resp.msn;
  // The QP allows FLUSH, so the ring of positions has been allocated.
  resp.flushes[resp.next_flush++ % Responder::kFlushes] = resp.position;
  resp.drop_held_ack();
  // A FLUSH does not count against max_rd_atomic, so it must not take the place of a request that does.
  answer_with_value(device, qp, request.info.operation, request.bth.psn);
  return Execution::done;
}

}  // namespace

Execution execute(DeviceState& device, Qp& qp, Request& request) {
  if (qp.init.type == QpType::xrc_target && !select_srq(device, qp, request.packet)) {
    return request.refuse(NakCode::invalid_request);
  }
  if (fault(Fault::open_per_device)) close_others(device, qp);
  if (!in_order(qp.resp.open, request.info)) return request.refuse(NakCode::invalid_request);
  if (!qp_allows(qp, request)) return request.refuse(NakCode::invalid_request);
  // RC-RESP-08 (payload and pad have to fit the opcode and the path MTU: else NAK 0x61)
  if (request.bth.pad_count != pad_of(request.packet.payload_length()) && !fault(Fault::pad_ignored)) {
    return request.refuse(NakCode::invalid_request);
  }
  const bool is_answered = request.info.operation != Operation::send && request.info.operation != Operation::write;
  if (is_answered && !qp.resp.has_room_for_answer()) return Execution::dropped;
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
