// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "wireshark/epan/show.h"

namespace roce::plugin {

/// Registers *Follow* for streams (`-z follow,roce,…`), and the filters for a stream and for a message that
/// *Conversation Filter* and *Colorize Conversation* offer.
void register_follow(int proto);

/// Passes the data of a packet to *Follow*, if it is open.
void queue_for_follow(packet_info* pinfo, const ShownPacket& shown);

}  // namespace roce::plugin
