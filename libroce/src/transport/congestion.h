// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "roce/wire/packet.h"
#include "roce/wire/time.h"
#include "transport/path.h"

namespace roce::transport::detail {

class Emitter;
struct DeviceState;
struct Qp;

/// A congestion notification that waits to be sent.
struct PendingCnp {
  Path path{};
  Qpn dest_qp{};
  Qpn qpn{};  ///< the local QP that received the marked packet
};

/// Answers a packet with a CNP if it is marked CE.
void on_congestion_mark(DeviceState& device, Qp& qp, const Packet& packet, Time now);
void on_cnp(Qp& qp, const Packet& packet, Time now);
[[nodiscard]] bool serve_cnps(DeviceState& device, Emitter& out);

}  // namespace roce::transport::detail
