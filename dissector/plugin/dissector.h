// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "plugin/epan.h"
#include "plugin/open_capture.h"

namespace roce::plugin {

/// RoCE v2: what a UDP datagram carries.
int dissect_v2(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data);
/// RoCE v1: what an Ethernet frame carries, from the GRH on.
int dissect_v1(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data);
/// MAC control: what an Ethernet frame carries; PFC and PAUSE get times and are analysed, behind Wireshark's own.
int dissect_mac_control(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data);
/// A CN-TAG, from behind its EtherType on, with what follows it.
int dissect_cn_tag(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data);
/// A CNM, from behind its EtherType on.
int dissect_cnm(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data);

/// A capture is opened, or is to be looked at anew.
void begin_capture();
/// The first pass over the capture is over.
void finish_first_pass();
/// The capture is closed.
void end_capture();

/// What is remembered of the capture that is open.
[[nodiscard]] const OpenCapture& open_capture();

}  // namespace roce::plugin
