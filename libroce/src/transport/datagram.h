// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "roce/wire/packet.h"
#include "roce/wire/time.h"
#include "transport/path.h"

namespace roce::transport::detail {

struct AddressHandle;
class Emitter;
enum class Served : std::uint8_t;

/// Delivers a packet to the UD or GSI QP that it names.
void receive_datagram(DeviceState& device, Qp& qp, const Packet& packet, Time now);
/// Delivers a packet to the UD QPs of a multicast group.
void receive_multicast(DeviceState& device, const Packet& packet, Time now);
/// Sends up to `quantum` datagrams, and takes them off `quantum`.
[[nodiscard]] Served serve_datagrams(DeviceState& device, Qp& qp, Emitter& out, Time now, std::uint32_t& quantum);
/// Returns the path of an address handle for datagrams of `qp`; nullptr if `out` has datagrams of another QP on it that
/// must go first. The path still has to be built.
[[nodiscard]] Path* datagram_path(const Qp& qp, AddressHandle& ah, Emitter& out);

}  // namespace roce::transport::detail
