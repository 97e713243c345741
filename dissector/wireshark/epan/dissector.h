// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "wireshark/epan/epan.h"
#include "wireshark/parts/open_capture.h"

namespace roce::plugin {

/// Dissects RoCE v2: the payload of a UDP datagram.
int dissect_v2(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data);
/// Dissects RoCE v1: the payload of an Ethernet frame, from the GRH on.
int dissect_v1(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data);
/// Dissects MAC control: the payload of an Ethernet frame. Adds times and the analysis to Wireshark's PFC and PAUSE.
int dissect_mac_control(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data);
/// Dissects a CN-TAG, from the byte after its EtherType on, and what follows it.
int dissect_cn_tag(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data);
/// Dissects a CNM, from the byte after its EtherType on.
int dissect_cnm(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data);

/// Begins a capture, when one is opened or is to be dissected again.
void begin_capture();
/// Ends the first pass over the capture.
void finish_first_pass();
/// Ends a capture, when it is closed.
void end_capture();

/// Returns what is remembered about the open capture.
[[nodiscard]] const OpenCapture& open_capture();

}  // namespace roce::plugin
