// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "roce/wire/bth.h"
#include "roce/wire/time.h"
#include "transport/device_state.h"
#include "transport/emitter.h"

namespace roce::transport::detail {

/// The result of serving a QP.
enum class Served : std::uint8_t {
  idle,     ///< nothing to send until something happens
  more,     ///< its share is used up, and it has more to send
  no_room,  ///< the buffer is full
};

/// Puts the QP into its ready list, unless it waits for a neighbour.
void make_ready(DeviceState& device, Qp& qp);
/// Takes the QP out of the ready lists and of the timers.
void unschedule(DeviceState& device, Qp& qp);
/// Sets the QP's timer to the earliest time that it waits for. Pacing and held packets due by `served` need no timer.
void arm_timer(DeviceState& device, Qp& qp, Time served = Time::min());
/// Does the work of `send_placed` after the ICRC, for a QP with a misbehaviour hook.
void send_misbehaving(DeviceState& device, Qp& qp, Emitter& out, Time now);
/// Returns the BTH of a packet of the QP, with the members that each has. `opcode` is that of RC for a connection.
[[nodiscard]] inline Bth bth_of(const DeviceState& device, const Qp& qp, Opcode opcode, Psn psn) {
  Bth bth;
  bth.opcode = static_cast<Opcode>(static_cast<std::uint8_t>(opcode) | qp.opcode_base);
  bth.mig_req = device.profile().mig_req;
  bth.p_key = qp.p_key;
  bth.dest_qp = qp.dest_qp;
  bth.psn = psn;
  return bth;
}
/// Finishes the packet placed last: computes its ICRC, asks the misbehaviour hook, counts it.
inline void send_placed(DeviceState& device, Qp& qp, Emitter& out, Time now) {
  out.seal();
  if (qp.misbehaviour != nullptr) [[unlikely]]
    return send_misbehaving(device, qp, out, now);
  ++qp.counters.sent_packets;
  qp.counters.sent_bytes += out.last().size();
}
/// Returns room for a packet of the QP, or nullptr.
[[nodiscard]] inline std::byte* place(Qp& qp, Path& path, Emitter& out, std::uint32_t size) {
  const bool alone = qp.misbehaviour != nullptr;
  return out.place(path, path.priority, qp.qpn.value(), size, alone);
}
/// Serves the ready QPs in turn until nothing is left or `out` is full; returns the number of units filled.
[[nodiscard]] std::size_t serve_all(DeviceState& device, Emitter& out, Time now);

}  // namespace roce::transport::detail
