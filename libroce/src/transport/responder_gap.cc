// SPDX-License-Identifier: BSD-2-Clause
// Gaps in the PSNs of requests to an RC QP: when they are NAKed, and what becomes of the requests behind them (IBTA
// vol. 1, 9.7.5.1.4; LossRecovery).
#include "transport/responder_gap.h"

#include "transport/device_state.h"
#include "transport/faults.h"
#include "transport/scheduler.h"

namespace roce::transport::detail {

namespace {

// A peer that is gone is not told for ever.
constexpr std::uint32_t kMostNaks = 8;

// RC-RESP-02 (a gap is answered with one NAK of the expected PSN; by profile, late or again)
void nak_gap(DeviceState& device, Qp& qp, Psn psn, Time now) {
  Responder& resp = qp.resp;
  resp.nak_latched = true;
  release_ack(device, qp);
  answer(device, qp, AethSyndrome::nak(NakCode::psn_sequence_error), psn);
  if (resp.gap == nullptr) return;
  Gap& gap = *resp.gap;
  const Duration again = device.profile().recovery.nak_again_after;
  gap.nak_due = again.count() != 0 && ++gap.naks < kMostNaks ? now + again * (1U << (gap.naks - 1)) : kNever;
  arm_timer(device, qp);
}

/// True if a gap is to be NAKed later, or when more packets have come behind it.
[[nodiscard]] bool is_early(DeviceState& device, Qp& qp, Gap& gap, Time now) {
  const LossRecovery& recovery = device.profile().recovery;
  const bool counts = recovery.nak_delay_packets != 0;
  const bool waits = recovery.nak_delay.count() != 0;
  if (!counts && !waits) return false;
  if (gap.packets++ == 0 && waits) {
    gap.nak_due = now + recovery.nak_delay;
    arm_timer(device, qp);
  }
  const bool are_enough = counts && gap.packets > recovery.nak_delay_packets;
  return !are_enough && gap.nak_due > now;
}

}  // namespace

void on_gap(DeviceState& device, Qp& qp, const Packet& packet, const Bth& bth, Time now) {
  ++qp.counters.out_of_sequence;
  Responder& resp = qp.resp;
  Gap* const gap = resp.gap.get();
  if (gap != nullptr) {
    const std::uint64_t position = resp.position_of(bth.psn);
    gap->held.keep(position, position - resp.position, packet);
  }
  if (resp.nak_latched && !fault(Fault::gap_nak_every)) return;
  if (gap != nullptr && is_early(device, qp, *gap, now)) return;
  Psn named = resp.e_psn;
  if (fault(Fault::gap_nak_packets_psn)) named = bth.psn;
  nak_gap(device, qp, named, now);
}

void on_gap_timer(DeviceState& device, Qp& qp, Time now) {
  if (qp.resp.gap == nullptr || qp.resp.gap->nak_due > now) return;
  qp.resp.gap->nak_due = kNever;
  if (qp.may_receive()) nak_gap(device, qp, qp.resp.e_psn, now);
}

void take_held(DeviceState& device, Qp& qp, Time now) {
  Responder& resp = qp.resp;
  Gap& gap = *resp.gap;
  bool has_waited = false;
  bool is_stuck = false;
  while (qp.may_receive()) {
    const Bytes bytes = gap.held.at(resp.position);
    if (bytes.empty()) break;
    has_waited = true;
    const std::uint64_t before = resp.position;
    const Packet packet = parse_transport(bytes, qp.path.net);
    take_in_turn(device, qp, packet, packet.bth(), now);
    is_stuck = resp.position == before;
    if (is_stuck) break;
  }
  if (!qp.may_receive()) return;
  if (has_waited && resp.acks_held != 0) {
    resp.held_psn = resp.e_psn - 1;
    release_ack(device, qp);
  }
  // A request without a receive was answered, and one without room for its answer counts as lost.
  if (is_stuck || !gap.held.reaches(resp.position) || resp.nak_latched || is_early(device, qp, gap, now)) return;
  nak_gap(device, qp, resp.e_psn, now);
}

void make_gap(const DeviceState& device, Qp& qp) {
  const LossRecovery& recovery = device.profile().recovery;
  if (qp.init.type != QpType::rc || !recovery.is_of_responder()) return;
  qp.resp.gap = std::make_unique<Gap>(recovery, HeldPackets::kMostHeaderBytes + qp.mtu);
}

}  // namespace roce::transport::detail
