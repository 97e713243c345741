// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "plugin/epan.h"
#include "roce/wire/net_meta.h"

namespace roce::plugin {

/// Finds Wireshark's own dissectors and makes the plugin's. Once, when all protocols are registered.
void make_handles(int proto);
/// Takes the UDP ports and EtherTypes from Wireshark's own dissectors, or gives them back, as the preferences want it.
/// What the user set with "Decode As" stays. Again for each capture: any change of a preference of the built-in
/// dissector takes them back.
void take_ports();
/// Calls the dissector for an EtherType; how many bytes it took, 0 without one.
int call_ethertype(guint32 ether_type, tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree);
/// Calls Wireshark's dissector for RoCE v1 or v2.
void call_builtin(RoceVersion version, tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree);
/// Calls Wireshark's dissector for MAC control.
void call_builtin_mac_control(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree);

}  // namespace roce::plugin
