// SPDX-License-Identifier: BSD-2-Clause
// The receiving half of UC: a lost packet costs its message and nothing more (IBTA vol. 1, 9.8.2).
#include <cstring>

#include "roce/wire/immdt.h"
#include "roce/wire/reth.h"
#include "transport/device_state.h"

namespace roce::transport::detail {

namespace {

constexpr std::uint32_t kMaxMessage = 1U << 31;

/// Gives up the open message. Its receive is used for the next message; one from an SRQ cannot wait and ends with an
/// error (UC-03).
void abandon(DeviceState& device, Qp& qp) {
  Responder& resp = qp.resp;
  resp.open = Responder::Open::nothing;
  if (!resp.has_receive || qp.srq == nullptr) return;
  Completion completion{};
  completion.wr_id = resp.receive.wr_id;
  completion.status = CompletionStatus::remote_invalid_request;
  completion.opcode = CompletionOpcode::receive;
  completion.qpn = qp.qpn;
  complete_receive(device, qp, completion, true);
}

void complete_message(DeviceState& device, Qp& qp, const Packet& packet, const Bth& bth, std::uint32_t length,
                      bool write) {
  Completion completion{};
  completion.wr_id = qp.resp.receive.wr_id;
  completion.opcode = write ? CompletionOpcode::receive_write_with_immediate : CompletionOpcode::receive;
  completion.byte_length = length;
  completion.qpn = qp.qpn;
  if (const std::optional<ImmDt> immediate = packet.get<ImmDt>()) {
    completion.has_immediate = true;
    completion.immediate = immediate->data;
  }
  complete_receive(device, qp, completion, bth.solicited);
}

/// Takes one packet of a SEND; false if the message is lost.
[[nodiscard]] bool take_send(DeviceState& device, Qp& qp, const Packet& packet, const Bth& bth) {
  Responder& resp = qp.resp;
  const Position position = packet.info().position;
  if (position == Position::first || position == Position::only) {
    if (!take_receive(device, qp)) {
      ++qp.counters.out_of_buffer;
      return false;
    }
    resp.receive_offset = 0;
  }
  const std::span<const Sge> sges{resp.receive_sges.data(), resp.receive.sge_count};
  if (scatter(device, qp.receive_pd, sges, resp.receive_offset, packet.payload()) != Scattered::done) {
    ++qp.counters.local_length_errors;
    return false;
  }
  resp.receive_offset += packet.payload_length();
  resp.open = Responder::Open::send;
  if (position == Position::first || position == Position::middle) return true;
  resp.open = Responder::Open::nothing;
  ++resp.msn;
  ++qp.counters.sends_received;
  complete_message(device, qp, packet, bth, static_cast<std::uint32_t>(resp.receive_offset), false);
  return true;
}

/// Takes one packet of a WRITE; false if the message is lost.
[[nodiscard]] bool take_write(DeviceState& device, Qp& qp, const Packet& packet, const Bth& bth) {
  Responder& resp = qp.resp;
  const OpcodeInfo& info = packet.info();
  if (!allows(qp.access, Access::remote_write)) return false;
  if (info.immediate && !take_receive(device, qp)) {
    ++qp.counters.out_of_buffer;
    return false;
  }
  if (const std::optional<Reth> reth = packet.get<Reth>()) {
    if (reth->dma_length > kMaxMessage) return false;
    if (reth->dma_length != 0 && device.memory.remote(reth->r_key, qp.pd, qp.qpn, reth->virtual_address,
                                                      reth->dma_length, Access::remote_write) == nullptr) {
      ++qp.counters.responder_access_errors;
      return false;
    }
    resp.write_address = reth->virtual_address;
    resp.write_key = reth->r_key;
    resp.write_left = resp.write_total = reth->dma_length;
  }
  const Bytes payload = packet.payload();
  const bool ends = info.position == Position::last || info.position == Position::only;
  if (ends ? payload.size() != resp.write_left : payload.size() >= resp.write_left) return false;
  if (!payload.empty()) {
    std::byte* to =
        device.memory.remote(resp.write_key, qp.pd, qp.qpn, resp.write_address, payload.size(), Access::remote_write);
    if (to == nullptr) return false;
    std::memcpy(to, payload.data(), payload.size());
    resp.write_address += payload.size();
    resp.write_left -= static_cast<std::uint32_t>(payload.size());
  }
  resp.open = ends ? Responder::Open::nothing : Responder::Open::write;
  if (!ends) return true;
  ++resp.msn;
  ++qp.counters.write_requests;
  if (info.immediate) complete_message(device, qp, packet, bth, resp.write_total, true);
  return true;
}

}  // namespace

void on_unreliable(DeviceState& device, Qp& qp, const Packet& packet, const Bth& bth, Time) {
  Responder& resp = qp.resp;
  if (qp.state != QpState::rtr && qp.state != QpState::rts && qp.state != QpState::sqd && qp.state != QpState::sqe) {
    ++qp.counters.wrong_state;
    return;
  }
  const OpcodeInfo& info = packet.info();
  const bool starts = info.position == Position::first || info.position == Position::only;
  // UC-02 (a PSN that was not expected ends the open message; the same packet may begin the next)
  if (bth.psn != resp.e_psn) {
    ++qp.counters.out_of_sequence;
    abandon(device, qp);
  }
  resp.e_psn = bth.psn + 1;
  if (starts) {
    // The previous message has not ended, and never will.
    if (resp.open != Responder::Open::nothing) abandon(device, qp);
  } else {
    const Operation open = resp.open == Responder::Open::send ? Operation::send : Operation::write;
    if (resp.open == Responder::Open::nothing || info.operation != open) return abandon(device, qp);
  }
  const bool fits = payload_fits(info.payload, packet.payload_length(), qp.mtu);
  const bool taken = fits && (info.operation == Operation::send ? take_send(device, qp, packet, bth)
                                                                : take_write(device, qp, packet, bth));
  // UC-04 (without a receive, right, key or fitting length the message is dropped in silence)
  if (!taken) abandon(device, qp);
}

}  // namespace roce::transport::detail
