// SPDX-License-Identifier: BSD-2-Clause
// SENDs and WRITEs packet by packet, as RC and UC take them: where the payload goes, and what completes the receive.
#include <cstring>

#include "roce/wire/constants.h"
#include "roce/wire/ieth.h"
#include "roce/wire/immdt.h"
#include "roce/wire/reth.h"
#include "transport/completion.h"
#include "transport/device_state.h"
#include "transport/faults.h"

namespace roce::transport::detail {

namespace {

/// Makes the event of a CQ that is armed, although nothing completes: a fault.
void wake(DeviceState& device, CompletionQueue& cq) {
  if (cq.armed == CompletionQueue::Armed::no) return;
  cq.armed = CompletionQueue::Armed::no;
  device.report(Event{.type = EventType::cq_ready, .cq = cq.handle});
}

}  // namespace

Scattered take_send_payload(DeviceState& device, Qp& qp, const Packet& packet) {
  Responder& resp = qp.resp;
  const OpcodeInfo& info = packet.info();
  if (info.begins_message()) resp.receive_offset = 0;
  Bytes payload = packet.payload();
  if (fault(Fault::pad_in_memory)) payload = {payload.data(), payload.size() + packet.pad().size()};
  const Scattered result = device.memory.scatter(qp.receive_pd, resp.receive_memory(), resp.receive_offset, payload);
  if (result != Scattered::done) return result;
  resp.receive_offset += packet.payload_length();
  resp.open = info.ends_message() ? Responder::Open::nothing : Responder::Open::send;
  if (fault(Fault::solicited_at_first) && packet.bth().solicited && !info.ends_message()) wake(device, *qp.receive_cq);
  if (info.ends_message()) ++qp.counters.sends_received;
  return result;
}

Written take_write_payload(DeviceState& device, Qp& qp, const Packet& packet) {
  Responder& resp = qp.resp;
  const bool ends = packet.info().ends_message();
  const auto writable = [&](RKey key, std::uint64_t address, std::uint64_t length) {
    std::byte* to = device.memory.remote(key, qp.pd, qp.qpn, address, length, Access::remote_write);
    // RC-RESP-10 (key, PD, right or range wrong: NAK 0x62)
    if (to == nullptr) ++qp.counters.responder_access_errors;
    return to;
  };
  std::byte* to = nullptr;
  if (const std::optional<Reth> reth = packet.get<Reth>()) {
    if (reth->dma_length > kMaxMessage) return Written::bad_length;
    // RC-RESP-11 (the key of a WRITE of no bytes is not checked)
    if (reth->dma_length != 0 || fault(Fault::zero_checks_key)) {
      to = writable(reth->r_key, reth->virtual_address, reth->dma_length);
      if (to == nullptr) return Written::no_access;
    }
    resp.write_address = reth->virtual_address;
    resp.write_key = reth->r_key;
    resp.write_left = resp.write_total = reth->dma_length;
  }
  const Bytes payload = packet.payload();
  if (fault(Fault::zero_with_bytes) && resp.write_total == 0)
    resp.write_left = static_cast<std::uint32_t>(payload.size());
  if (fault(Fault::write_sum_ignored)) to = nullptr;
  // RC-RESP-09 (the packets of a WRITE add up to the length in its RETH)
  const bool fits = ends ? payload.size() == resp.write_left : payload.size() < resp.write_left;
  if (!fits && !fault(Fault::write_sum_ignored)) return Written::bad_length;
  if (!payload.empty()) {
    // MEM-12 (keys are checked for each packet): the key may have been taken away since the first one.
    if (to == nullptr) to = writable(resp.write_key, resp.write_address, payload.size());
    if (fault(Fault::key_at_first_only) && to == nullptr) return Written::done;
    if (to == nullptr) return Written::no_access;
    std::memcpy(to, payload.data(), payload.size());
    if (fault(Fault::pad_in_memory) && !packet.pad().empty())
      std::memcpy(to + payload.size(), packet.pad().data(), packet.pad().size());
    resp.write_address += payload.size();
    resp.write_left -= static_cast<std::uint32_t>(payload.size());
  }
  resp.open = ends ? Responder::Open::nothing : Responder::Open::write;
  if (ends) ++qp.counters.write_requests;
  return Written::done;
}

// RC-RESP-31 (the receive's completion has immediate data, the invalidated key and the bytes)
void complete_message(DeviceState& device, Qp& qp, const Packet& packet, const Bth& bth) {
  Responder& resp = qp.resp;
  const OpcodeInfo& info = packet.info();
  const bool write = info.operation == Operation::write;
  ++resp.msn;
  if (write && !info.immediate) return;
  Completion completion{};
  completion.wr_id = resp.receive.wr_id;
  completion.opcode = write ? CompletionOpcode::receive_write_with_immediate : CompletionOpcode::receive;
  completion.byte_length = write ? resp.write_total : static_cast<std::uint32_t>(resp.receive_offset);
  if (fault(Fault::imm_length_0) && write) completion.byte_length = 0;
  completion.qpn = qp.qpn;
  if (const std::optional<ImmDt> immediate = packet.get<ImmDt>()) {
    completion.has_immediate = true;
    completion.immediate = immediate->data;
    if (fault(Fault::imm_swapped)) completion.immediate = __builtin_bswap32(completion.immediate);
  }
  if (const std::optional<Ieth> ieth = packet.get<Ieth>()) {
    completion.has_invalidated = true;
    completion.invalidated = ieth->r_key;
  }
  const bool solicited = bth.solicited && !fault(Fault::solicited_never);
  complete_receive(device, qp, completion, solicited || fault(Fault::solicited_always));
}

}  // namespace roce::transport::detail
