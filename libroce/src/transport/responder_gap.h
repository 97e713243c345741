// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "roce/transport/loss_recovery.h"
#include "roce/wire/packet.h"
#include "roce/wire/time.h"
#include "transport/held_packets.h"

namespace roce::transport::detail {

struct DeviceState;
struct Qp;

/// The memory of an RC responder about a gap in the PSNs (LossRecovery).
struct Gap {
  explicit Gap(const LossRecovery& recovery, std::uint32_t packet_bytes) : held(recovery.held_requests, packet_bytes) {}

  HeldPackets held;
  Time nak_due = kNever;      ///< the gap is NAKed then, for the first time or again
  std::uint32_t packets = 0;  ///< came behind the gap
  std::uint32_t naks = 0;     ///< of this gap

  /// Notes that the expected PSN has come.
  void close() {
    nak_due = kNever;
    packets = naks = 0;
  }
  /// Forgets all that waits.
  void forget() {
    close();
    held.clear();
  }
};

/// Takes a request of a newer PSN than the expected one.
void on_gap(DeviceState& device, Qp& qp, const Packet& packet, const Bth& bth, Time now);
/// NAKs a gap whose time has come.
void on_gap_timer(DeviceState& device, Qp& qp, Time now);
/// Takes the requests that waited for the one just executed, in order, and acknowledges them at once.
void take_held(DeviceState& device, Qp& qp, Time now);
/// Makes the memory of a QP's gap, if its device has any use for it.
void make_gap(const DeviceState& device, Qp& qp);

}  // namespace roce::transport::detail
