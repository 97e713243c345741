// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "roce/wire/packet.h"
#include "wireshark/epan/epan.h"
#include "wireshark/parts/cm_connections.h"

namespace roce::plugin {

/// Forgets the CM messages of the previous capture.
void begin_cm_conversations();
/// Processes a packet to or from QP 1. On the first pass, a CM message creates the conversations in which dissectors of
/// upper protocols look for the service; on each pass they get its private data. `base`: offset in `tvb` of the
/// packet's bytes; `pinfo` has the QPs as ports.
void take_cm_message(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, const Packet& packet, int base);

}  // namespace roce::plugin
