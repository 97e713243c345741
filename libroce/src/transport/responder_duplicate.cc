// SPDX-License-Identifier: BSD-2-Clause
// Requests that come again: each is answered as the first time, and nothing is executed twice (IBTA vol. 1, 9.7.5.1).
#include <algorithm>

#include "roce/wire/atomiceth.h"
#include "transport/device_state.h"
#include "transport/faults.h"
#include "transport/scheduler.h"

namespace roce::transport::detail {

namespace {

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
  if (fault(Fault::dup_silent)) return;
  if (fault(Fault::dup_ack_ahead)) return answer(device, qp, ack_syndrome(device, qp), resp.e_psn);
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
  auto reth = *packet.get<Reth>();
  const std::uint64_t position = resp.position_of(bth.psn);
  const Replay* replay = resp.replay_at(position);
  if (replay == nullptr || replay->operation != Operation::read_request || packet.payload_length() != 0) return;
  if (fault(Fault::dup_read_no_key)) reth.r_key = replay->r_key;
  const std::uint64_t index = position - replay->position;
  const std::uint64_t skipped = index * qp.mtu;
  const std::uint64_t address = replay->address + skipped;
  const std::uint64_t length = replay->length - skipped;
  if (reth.r_key != replay->r_key) return;
  if (reth.virtual_address != address && !fault(Fault::dup_read_creeps)) return;
  if (reth.dma_length != length && !fault(Fault::dup_read_long)) return;
  if (fault(Fault::dup_read_from_start)) reth.virtual_address = replay->address;
  if (fault(Fault::dup_zero_needs_key) && reth.dma_length == 0 &&
      device.memory.remote(reth.r_key, replay->pd, qp.qpn, address, 0, Access::none) == nullptr)
    return;
  if (!resp.has_room_for_answer()) return;
  auto left = replay->psn_count - static_cast<std::uint32_t>(index);
  if (fault(Fault::dup_read_long)) left = std::max(1U, (reth.dma_length + qp.mtu - 1) / qp.mtu);
  // RC-RESP-30 (a READ requested from its middle gets FIRST or ONLY again, or MIDDLE and LAST, by profile)
  Response& response = answer_with_data(device, qp, reth, bth.psn, left);
  response.pd = replay->pd;
  response.resumed = index != 0 && device.profile().read_resumes_in_middle;
  if (fault(Fault::dup_read_old_msn)) response.msn = response.msn - 1;
}

/// Queues the response to an atomic, ATOMIC WRITE or FLUSH once more, if there is room.
void answer_again(DeviceState& device, Qp& qp, const Packet& packet, Psn psn, std::uint64_t original = 0) {
  if (qp.resp.has_room_for_answer()) answer_with_value(device, qp, packet.info().operation, psn, original);
}

/// Answers an atomic or ATOMIC WRITE from the store, never executing it again, if it is the one executed (RC-RESP-28).
void duplicate_atomic(DeviceState& device, Qp& qp, const Packet& packet, Psn psn, std::uint64_t address, RKey r_key) {
  const Replay* replay = qp.resp.replay_at(qp.resp.position_of(psn));
  if (fault(Fault::replay_any_kind) && replay != nullptr)
    return answer_again(device, qp, packet, psn, replay->original);
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

void on_duplicate(DeviceState& device, Qp& qp, const Packet& packet, const Bth& bth) {
  const Responder& resp = qp.resp;
  ++qp.counters.duplicate_requests;
  if (fault(Fault::msn_counts_dup)) qp.resp.msn = qp.resp.msn + 1;
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

}  // namespace roce::transport::detail
