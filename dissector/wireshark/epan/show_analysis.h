// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "wireshark/epan/epan.h"
#include "wireshark/parts/capture_analysis.h"

namespace roce::plugin {

/// Adds what the analysis knows about a packet below `tree`: its stream, the request or response that it belongs to,
/// and the verdicts with expert information.
void show_analysis(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, const CaptureAnalysis& analysis,
                   const PacketFacts& facts);

/// Adds the expert information without a tree.
void report_verdicts(packet_info* pinfo, const CaptureAnalysis& analysis, const PacketFacts& facts);

}  // namespace roce::plugin
