// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "wireshark/epan/epan.h"
#include "wireshark/epan/show.h"

namespace roce::plugin {

/// Forgets what was learnt from the previous capture.
void begin_upper_protocols();
/// Sets the QPs of a packet as Wireshark's ports, and passes its payload, without pad and ICRC, to the dissector of the
/// upper protocol that it belongs to. Errors there are shown and do not leave this function, except for lack of memory
/// and bugs, which Wireshark reports itself.
void dissect_upper_protocols(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, const ShownPacket& shown);

}  // namespace roce::plugin
