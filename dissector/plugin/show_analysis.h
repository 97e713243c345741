// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "plugin/capture_analysis.h"
#include "plugin/epan.h"

namespace roce::plugin {

/// Adds what the analysis found about a packet below `tree`: its stream, what it answers or was answered by, and the
/// verdicts with expert information.
void show_analysis(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, const CaptureAnalysis& analysis,
                   const PacketFacts& facts);

/// The expert information alone, where there is no tree.
void report_verdicts(packet_info* pinfo, const CaptureAnalysis& analysis, const PacketFacts& facts);

}  // namespace roce::plugin
