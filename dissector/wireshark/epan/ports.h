// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "roce/wire/net_meta.h"
#include "wireshark/epan/epan.h"

namespace roce::plugin {

/// Finds Wireshark's own dissectors and creates the plugin's. Call it once, when all protocols are registered.
void make_handles(int proto);
/// Takes the UDP ports and EtherTypes from Wireshark's own dissectors, or gives them back, as the preferences demand.
/// Entries that the user set with "Decode As" stay, and no entry looks as if the user had changed it. Call it for each
/// capture: a change of any preference of the built-in dissector takes the ports back.
void take_ports();
/// True if packets to this UDP port are RoCE, by the preferences or by the user's "Decode As".
[[nodiscard]] bool is_roce_port(guint32 port);
/// Calls the dissector for an EtherType. Returns the number of bytes that it took, 0 if there is no dissector.
int call_ethertype(guint32 ether_type, tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree);
/// Calls Wireshark's dissector for RoCE v1 or v2. Returns the number of bytes that it took, 0 if there is none.
int call_builtin(RoceVersion version, tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree);
/// Calls Wireshark's dissector for MAC control; returns the same.
int call_builtin_mac_control(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree);

}  // namespace roce::plugin
