// SPDX-License-Identifier: BSD-2-Clause
// The requester's sending side: segmentation, PSNs, windows, the order of requests (IBTA vol. 1, 9.7.2, 9.7.7).
#include <algorithm>
#include <cstring>

#include "roce/wire/atomiceth.h"
#include "roce/wire/ieth.h"
#include "roce/wire/immdt.h"
#include "roce/wire/reth.h"
#include "roce/wire/xrceth.h"
#include "transport/device_state.h"
#include "transport/faults.h"
#include "transport/scheduler.h"

namespace roce::transport::detail {

namespace {

// RC-REQ-03 (the RETH is in the first packet, immediate data and the key to invalidate are in the last)
[[nodiscard]] Opcode send_opcode(const SendWqe& wqe, bool first, bool last) {
  const bool write = wqe.opcode == WorkOpcode::write || wqe.opcode == WorkOpcode::write_with_immediate;
  if (!last) {
    if (write) return first ? Opcode::rc_write_first : Opcode::rc_write_middle;
    return first ? Opcode::rc_send_first : Opcode::rc_send_middle;
  }
  if (fault(Fault::imm_in_first) && wqe.opcode == WorkOpcode::send_with_immediate && !first)
    return Opcode::rc_send_last;
  switch (wqe.opcode) {
    case WorkOpcode::send:
      return first ? Opcode::rc_send_only : Opcode::rc_send_last;
    case WorkOpcode::send_with_immediate:
      return first ? Opcode::rc_send_only_imm : Opcode::rc_send_last_imm;
    case WorkOpcode::send_with_invalidate:
      return first ? Opcode::rc_send_only_invalidate : Opcode::rc_send_last_invalidate;
    case WorkOpcode::write:
      return first ? Opcode::rc_write_only : Opcode::rc_write_last;
    default:
      return first ? Opcode::rc_write_only_imm : Opcode::rc_write_last_imm;
  }
}

/// Returns how many PSNs may be in flight.
[[nodiscard]] std::uint32_t window_of(const DeviceState& device, const Qp& qp) {
  const std::uint32_t most = device.profile().window;
  const std::uint32_t window = qp.req.recovery == nullptr ? most : limit_window(*qp.req.recovery, qp.mtu, most);
  return qp.pacer == nullptr ? window : qp.pacer->window(window);
}

/// True if the last packet of a message asks for an ACK (RC-REQ-05): every n-th message does, and so does one whose
/// ACK something waits for.
[[nodiscard]] bool end_asks_for_ack(const DeviceState& device, Requester& req, const SendWqe& wqe) {
  bool asks = req.recovering || req.messages_without_ack_request + 1 >= device.profile().messages_per_ack_request ||
              req.next + 1 == req.tail;
  if (!asks) {
    const SendWqe& following = req.wqe(req.next + 1);
    // Without credits for the next request, only a response brings new ones.
    const bool out_of_credits = req.credit_limited && !req.credit_limit.newer_than(wqe.ssn);
    asks = out_of_credits || following.fence || following.done || following.opcode == WorkOpcode::local_invalidate;
  }
  req.messages_without_ack_request = asks ? 0 : req.messages_without_ack_request + 1;
  return asks;
}

// XRC-01 (every request packet of an initiator has an XRCETH behind its BTH: the SRQ that the request is for)
[[nodiscard]] std::byte* write_xrceth(Qp& qp, const SendWqe& wqe, std::byte* to) {
  if (qp.xrceth_bytes == 0) return to;
  write(XrcEth{.xrc_srq = qp.req.extra_of(wqe).xrc_srq}, to);
  return to + qp.xrceth_bytes;
}

/// Sends one packet of a SEND or WRITE; one that goes alone asks for an ACK. False if there is no room, or if the
/// request failed and is `done`.
[[gnu::always_inline]] inline bool send_segment(DeviceState& device, Qp& qp, SendWqe& wqe, Emitter& out, Time now,
                                                bool goes_alone) {
  Requester& req = qp.req;
  const std::uint64_t offset = std::uint64_t{req.next_packet} * qp.mtu;
  // RC-REQ-02 (FIRST and MIDDLE carry exactly the path MTU)
  const auto payload = static_cast<std::uint32_t>(std::min<std::uint64_t>(wqe.length - offset, qp.mtu));
  bool first = req.next_packet == 0;
  if (fault(Fault::reth_again) && req.recovering) first = true;
  const bool last = req.next_packet + 1 == wqe.psn_count;
  const Opcode opcode = send_opcode(wqe, first, last);
  const OpcodeInfo& info = opcode_info(opcode);
  const std::uint32_t size = packet_size(qp.xrceth_bytes + info.header_bytes, payload);
  std::byte* bytes = place(qp, qp.path, out, size);
  if (bytes == nullptr) return false;

  const Psn psn = wqe.first_psn + req.next_packet;
  Bth bth = bth_of(device, qp, opcode, psn);
  bth.pad_count = pad_of(payload);
  if (qp.init.type != QpType::uc) {
    const auto in_flight = static_cast<std::uint32_t>(psn.distance_from(req.una));
    bth.ack_req = last ? end_asks_for_ack(device, req, wqe)
                       : req.packets_without_ack_request + 1 >= device.profile().ack_request_interval;
    // Only a response can open a full window.
    if (in_flight + 1 >= window_of(device, qp) || goes_alone) bth.ack_req = true;
    if (fault(Fault::format_no_a) && last) bth.ack_req = false;
    req.packets_without_ack_request = bth.ack_req ? 0 : req.packets_without_ack_request + 1;
  }
  if (fault(Fault::uc_asks) && qp.init.type == QpType::uc) bth.ack_req = true;
  // RC-REQ-04 (SE is set only in the last packet of a message that takes a receive)
  bth.solicited = last && wqe.solicited && wqe.takes_receive();
  write(bth, bytes);
  std::byte* next = write_xrceth(qp, wqe, bytes + kSize<Bth>);
  if (first && (wqe.opcode == WorkOpcode::write || wqe.opcode == WorkOpcode::write_with_immediate)) {
    write(Reth{wqe.remote_address, wqe.r_key, wqe.length}, next);
    next += kSize<Reth>;
  }
  if (info.immediate) {
    write(ImmDt{wqe.immediate}, next);
    next += kSize<ImmDt>;
  } else if (info.invalidate) {
    write(Ieth{RKey{wqe.immediate}}, next);
    next += kSize<Ieth>;
  }
  if (!gather(device, qp, wqe, offset, payload, next) && !fault(Fault::bad_key_sends_zeros)) {
    out.take_back();
    wqe.fail(CompletionStatus::local_protection_error);
    return false;
  }
  if (fault(Fault::resend_new_data) && req.recovering && payload != 0) *next ^= std::byte{1};
  if (bth.pad_count != 0) std::memset(next + payload, 0, bth.pad_count);
  send_placed(device, qp, out, now);
  ++req.next_packet;
  return true;
}

/// Sends the one packet of a READ, atomic, ATOMIC WRITE or FLUSH. A READ is requested from its first missing response
/// on (RC-REQ-22).
bool send_one_packet_request(DeviceState& device, Qp& qp, SendWqe& wqe, Emitter& out, Time now) {
  Requester& req = qp.req;
  const auto write_bth = [&](std::byte* bytes, Opcode opcode, Psn psn) {
    Bth bth = bth_of(device, qp, opcode, psn);
    bth.ack_req = true;
    write(bth, bytes);
    return write_xrceth(qp, wqe, bytes + kSize<Bth>);
  };
  Psn psn = wqe.first_psn + req.next_packet;
  if (fault(Fault::atomic_new_psn) && req.recovering && wqe.opcode != WorkOpcode::read) psn = psn + 1;
  std::byte* bytes = nullptr;
  switch (wqe.opcode) {
    case WorkOpcode::read: {
      bytes = place(qp, qp.path, out, packet_size(qp.xrceth_bytes + kSize<Reth>, 0));
      if (bytes == nullptr) return false;
      const std::uint32_t skipped = req.next_packet * qp.mtu;
      write(Reth{wqe.remote_address + (fault(Fault::read_tail_va) ? 0 : skipped), wqe.r_key, wqe.length - skipped},
            write_bth(bytes, Opcode::rc_read_request, psn));
      break;
    }
    case WorkOpcode::compare_swap:
    case WorkOpcode::fetch_add: {
      bytes = place(qp, qp.path, out, packet_size(qp.xrceth_bytes + kSize<AtomicEth>, 0));
      if (bytes == nullptr) return false;
      const bool swap = wqe.opcode == WorkOpcode::compare_swap;
      const SendWqeExtra& extra = req.extra_of(wqe);
      AtomicEth header;
      header.virtual_address = wqe.remote_address;
      header.r_key = wqe.r_key;
      header.swap_or_add = swap ? extra.swap : extra.compare_add;
      header.compare = swap ? extra.compare_add : 0;
      write(header, write_bth(bytes, swap ? Opcode::rc_compare_swap : Opcode::rc_fetch_add, psn));
      break;
    }
    case WorkOpcode::atomic_write: {
      constexpr std::uint32_t operand = 8;
      bytes = place(qp, qp.path, out, packet_size(qp.xrceth_bytes + kSize<Reth>, operand));
      if (bytes == nullptr) return false;
      std::byte* next = write_bth(bytes, Opcode::rc_atomic_write, psn);
      write(Reth{wqe.remote_address, wqe.r_key, operand}, next);
      if (!gather(device, qp, wqe, 0, operand, next + kSize<Reth>)) {
        out.take_back();
        wqe.fail(CompletionStatus::local_protection_error);
        return false;
      }
      break;
    }
    default: {
      bytes = place(qp, qp.path, out, packet_size(qp.xrceth_bytes + kSize<Feth> + kSize<Reth>, 0));
      if (bytes == nullptr) return false;
      const FlushTarget& target = req.extra_of(wqe).flush;
      Feth feth;
      feth.selectivity = target.whole_region ? FlushSelectivity::memory_region : FlushSelectivity::range;
      feth.persistence = target.persistent;
      feth.visibility = !target.persistent;
      std::byte* next = write_bth(bytes, Opcode::rc_flush, psn);
      write(feth, next);
      write(Reth{wqe.remote_address, wqe.r_key, target.length}, next + kSize<Feth>);
      break;
    }
  }
  req.packets_without_ack_request = 0;
  req.messages_without_ack_request = 0;
  send_placed(device, qp, out, now);
  req.next_packet = wqe.psn_count;
  return true;
}

/// Executes LOCAL INVALIDATE and BIND_MW, which never leave the device.
void execute_local(DeviceState& device, Qp& qp, SendWqe& wqe) {
  wqe.done = true;
  if (wqe.opcode == WorkOpcode::local_invalidate) {
    const bool good = device.memory.invalidate(RKey{wqe.immediate}, qp.pd, qp.qpn);
    wqe.status = good ? CompletionStatus::success : CompletionStatus::local_qp_operation_error;
  } else {
    const bool good = device.memory.bind(qp.req.extra_of(wqe).bind, qp.pd, qp.qpn);
    wqe.status = good ? CompletionStatus::success : CompletionStatus::mw_bind_error;
  }
}

/// True if a request may be sent for the first time now.
[[nodiscard]] bool may_start(const DeviceState& device, const Qp& qp, const SendWqe& wqe) {
  const Requester& req = qp.req;
  // QP-10 (SQD begins nothing)
  if (qp.state == QpState::sqd && !fault(Fault::sqd_begins)) return false;
  // A request that was found wrong when it was posted needs nothing.
  if (wqe.done) return true;
  // QP-17 (a fenced request waits until earlier READs and atomics are complete)
  if (wqe.fence && !fault(Fault::fence_ignored) && req.rd_outstanding > 0) return false;
  // QP-18 (LOCAL INVALIDATE waits for everything before it): earlier requests may still use what it takes away.
  if (wqe.opcode == WorkOpcode::local_invalidate && req.next != req.head) return false;
  // RC-REQ-07 (at most max_rd_atomic READs, atomics and ATOMIC WRITEs are unanswered)
  const std::uint32_t depth = qp.attributes.max_rd_atomic + (fault(Fault::depth_one_more) ? 1U : 0U);
  if (wqe.is_rd_atomic() && req.rd_outstanding >= depth) return false;
  if (wqe.takes_receive() && req.credit_limited && !fault(Fault::credits_ignored) && device.profile().honour_credits) {
    // One request more than there are credits goes out as a probe (IBTA vol. 1, 9.7.7.2.1), and any request goes out if
    // no response is due that could bring more credits (RC-REQ-09).
    if (req.next != req.head && wqe.ssn.newer_than(req.credit_limit + 1)) return false;
  }
  // RC-REQ-08 (a READ whose response does not fit the window waits until nothing is outstanding)
  if (wqe.opcode == WorkOpcode::read && req.outstanding()) {
    const auto in_flight = static_cast<std::uint32_t>(req.next_psn.distance_from(req.una));
    if (in_flight + wqe.psn_count > window_of(device, qp)) return false;
  }
  return true;
}

/// Sends the next packet of a request. False if there is no room, or if the request failed and is `done`.
// Inline, or each packet would pay for the second caller, which sends again alone.
[[gnu::always_inline]] inline bool send_packet(DeviceState& device, Qp& qp, SendWqe& wqe, Emitter& out, Time now,
                                               bool goes_alone) {
  return wqe.needs_response() ? send_one_packet_request(device, qp, wqe, out, now)
                              : send_segment(device, qp, wqe, out, now, goes_alone);
}

/// Returns the packet that goes behind one that goes alone: the last one, if no new one follows that shows what the
/// peer has kept.
[[nodiscard]] std::optional<Psn> packet_behind(const Requester& req, Psn alone) {
  const bool is_shown = req.next != req.tail || req.recovery->peer != RequesterRecovery::Peer::unknown;
  if (is_shown || req.recovery->tried != alone) return std::nullopt;
  return req.sent_end - 1;
}

/// Sends one packet again, and goes on where the requester was; nothing if it is acknowledged by now.
Served send_alone(DeviceState& device, Qp& qp, Emitter& out, Time now, std::uint32_t& quantum) {
  Requester& req = qp.req;
  const Psn psn = *req.recovery->again;
  const std::uint32_t next = req.next;
  const std::uint32_t next_packet = req.next_packet;
  bool is_there = false;
  for (req.next = req.head; req.next != req.fresh && !is_there;) {
    const SendWqe& wqe = req.wqe(req.next);
    is_there = wqe.psn_count != 0 && !wqe.done && psn.distance_from(wqe.last_psn()) <= 0;
    if (!is_there) ++req.next;
  }
  Served served = Served::idle;
  if (is_there && !req.una.newer_than(psn)) {
    SendWqe& wqe = req.wqe(req.next);
    // The request itself, or what is missing of its response.
    Psn first = psn;
    if (wqe.needs_response()) first = req.una.newer_than(wqe.first_psn) ? req.una : wqe.first_psn;
    req.next_packet = static_cast<std::uint32_t>(first.distance_from(wqe.first_psn));
    if (send_packet(device, qp, wqe, out, now, true)) {
      --quantum;
      ++qp.counters.retransmitted_packets;
      note_sent(qp, first, true, true, now);
      arm_timer(device, qp);
    } else {
      served = wqe.done ? Served::idle : Served::no_room;
    }
  } else {
    forget_alone(qp);
  }
  req.next = next;
  req.next_packet = next_packet;
  if (served != Served::no_room) req.recovery->again = packet_behind(req, psn);
  return served;
}

// RC-REQ-01 (each request packet takes one PSN, a READ one for each packet of its response)
void start(Qp& qp, SendWqe& wqe) {
  Requester& req = qp.req;
  wqe.first_psn = req.next_psn;
  req.next_psn = req.next_psn + wqe.psn_count;
  ++req.fresh;
}

}  // namespace

bool gather(const DeviceState& device, const Qp& qp, const SendWqe& wqe, std::uint64_t offset, std::uint32_t length,
            std::byte* out) {
  if (length == 0) return true;
  if (!wqe.is_inline) return device.memory.gather(qp.pd, qp.memory_of(wqe), offset, length, out);
  std::memcpy(out, qp.req.inline_data.data() + qp.req.slot(wqe) * qp.init.max_inline + offset, length);
  return true;
}

Served serve_requester(DeviceState& device, Qp& qp, Emitter& out, Time now, std::uint32_t& quantum) {
  Requester& req = qp.req;
  if (qp.state != QpState::rts && qp.state != QpState::sqd) return Served::idle;
  if (fault(Fault::rnr_new_goes) && req.tail != req.fresh) req.rnr_until = kNever;
  if (req.rnr_until != kNever) return Served::idle;
  while (req.recovery != nullptr && req.recovery->again && quantum != 0) {
    if (send_alone(device, qp, out, now, quantum) == Served::no_room) return Served::no_room;
    // The request may have failed.
    retire(device, qp);
    if (qp.state == QpState::err) return Served::idle;
  }
  while (req.next != req.tail) {
    SendWqe& wqe = req.wqe(req.next);
    if (req.next == req.fresh) {
      if (!may_start(device, qp, wqe)) return Served::idle;
      start(qp, wqe);
      if (wqe.is_local() && !wqe.done) {
        execute_local(device, qp, wqe);
        // If nothing is before it, it completes now, and a request that waits for it may start.
        retire(device, qp);
        if (qp.state == QpState::err || qp.state == QpState::sqe) return Served::idle;
        continue;
      }
    }
    if (wqe.done) {
      if (wqe.status != CompletionStatus::success) break;
      ++req.next;
      req.next_packet = 0;
      continue;
    }
    if (quantum == 0) return Served::more;
    const Psn psn = wqe.first_psn + req.next_packet;
    // RC-REQ-06 (at most `window` PSNs are in flight)
    if (qp.init.type != QpType::uc && req.outstanding() &&
        static_cast<std::uint32_t>(psn.distance_from(req.una)) >= window_of(device, qp)) {
      return Served::idle;
    }
    const bool again = req.sent_end.newer_than(psn);
    if (!send_packet(device, qp, wqe, out, now, false)) {
      if (wqe.done) break;
      return Served::no_room;
    }
    --quantum;
    if (again) {
      ++qp.counters.retransmitted_packets;
    } else if (qp.pacer != nullptr && req.packets_without_ack_request == 0) {
      qp.pacer->on_ack_request(psn, now);
    }
    const Psn end = wqe.first_psn + req.next_packet;
    if (end.newer_than(req.sent_end)) req.sent_end = end;
    if (req.next_packet == wqe.psn_count) {
      if (wqe.is_rd_atomic()) ++req.rd_outstanding;
      ++req.next;
      req.next_packet = 0;
      // UC-01 (a request is complete once its last packet is sent)
      if (qp.init.type == QpType::uc) {
        wqe.done = true;
        req.una = req.sent_end;
        retire(device, qp);
      }
    }
    if (req.recovery != nullptr) {
      note_sent(qp, psn, req.packets_without_ack_request == 0, again, now);
      arm_timer(device, qp);
    } else if (qp.timeout.count() != 0 && qp.init.type != QpType::uc) {
      // RC-REQ-15 (the ACK timeout runs from the last progress or packet sent)
      const bool is_armed = req.timeout_at != kNever;
      req.timeout_at = now + qp.timeout;
      // A timer that is armed is put off when it fires.
      if (!is_armed) arm_timer(device, qp);
    }
  }
  retire(device, qp);
  return Served::idle;
}

}  // namespace roce::transport::detail
