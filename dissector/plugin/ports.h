// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "plugin/epan.h"
#include "roce/wire/net_meta.h"

namespace roce::plugin {

/// Finds Wireshark's own dissectors and makes the plugin's. Once, when all protocols are registered.
void make_handles(int proto);
/// Takes the UDP ports and EtherTypes from Wireshark's own dissectors, or gives them back, as the preferences want it.
/// Entries that the user set with "Decode As" stay, and no entry is changed as if by the user. Call it for each
/// capture: a change of any preference of the built-in dissector takes the ports back.
void take_ports();
/// Whether packets to this UDP port are RoCE's: by the preferences, or by what the user set with "Decode As".
[[nodiscard]] bool is_roce_port(guint32 port);
/// Calls the dissector for an EtherType; how many bytes it took, 0 without one.
int call_ethertype(guint32 ether_type, tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree);
/// Calls Wireshark's dissector for RoCE v1 or v2; how many bytes it took, 0 without one.
int call_builtin(RoceVersion version, tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree);
/// Likewise for MAC control.
int call_builtin_mac_control(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree);

}  // namespace roce::plugin
