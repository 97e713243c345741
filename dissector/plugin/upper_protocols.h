// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "plugin/epan.h"
#include "plugin/show.h"

namespace roce::plugin {

/// Forgets what was learned of the capture before.
void begin_upper_protocols();
/// Gives the QPs of a packet to Wireshark as its ports, and its payload, without pad and ICRC, to the dissector of the
/// upper protocol that it belongs to. What goes wrong there is shown, and does not leave this function but for want of
/// memory and bugs that Wireshark reports itself.
void dissect_upper_protocols(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, const ShownPacket& shown);

}  // namespace roce::plugin
