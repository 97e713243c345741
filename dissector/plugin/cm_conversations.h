// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "plugin/cm_connections.h"
#include "plugin/epan.h"
#include "roce/wire/packet.h"

namespace roce::plugin {

/// Forgets the CM messages of the capture before.
void begin_cm_conversations();
/// Takes a packet to or from QP 1. On the first pass a CM message makes the conversations in which the dissectors of
/// upper protocols look for the service; in each its private data is given to them. `base`: where in `tvb` the packet's
/// bytes begin; `pinfo` has the QPs as ports.
void take_cm_message(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, const Packet& packet, int base);

}  // namespace roce::plugin
