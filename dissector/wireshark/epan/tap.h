// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "roce/wire/packet.h"
#include "roce/wire/time.h"
#include "wireshark/epan/epan.h"
#include "wireshark/parts/tapped_packet.h"

namespace roce::plugin {

/// The name of the tap.
inline constexpr const char* kTap = "roce";

/// Registers the tap.
void register_taps();

/// Passes a packet to the listeners, if there are any. `offset`: its offset in its frame, by which the analysis knows
/// it.
void queue_for_taps(packet_info* pinfo, const Packet& packet, const IcrcVerdict& icrc, std::uint32_t offset, Time time);

/// Returns the packet that a listener was given. Valid during the listener's call.
[[nodiscard]] TappedPacket tapped(const void* data);

}  // namespace roce::plugin
