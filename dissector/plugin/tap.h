// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "plugin/epan.h"
#include "plugin/tapped_packet.h"
#include "roce/wire/packet.h"
#include "roce/wire/time.h"

namespace roce::plugin {

/// The name of the tap.
inline constexpr const char* kTap = "roce";

/// Registers the tap.
void register_taps();

/// Hands a packet to those who listen, if anybody does. `offset`: where in its frame it begins, by which the analysis
/// knows it.
void queue_for_taps(packet_info* pinfo, const Packet& packet, const IcrcVerdict& icrc, std::uint32_t offset, Time time);

/// The packet that a listener was handed. Valid while it is called.
[[nodiscard]] TappedPacket tapped(const void* data);

}  // namespace roce::plugin
