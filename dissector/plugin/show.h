// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>

#include "plugin/capture_analysis.h"
#include "plugin/epan.h"
#include "plugin/records.h"
#include "roce/wire/icrc.h"
#include "roce/wire/packet.h"

namespace roce::plugin {

/// A packet that is to be shown.
struct ShownPacket {
  const Packet& packet;
  const IcrcVerdict& icrc;
  std::uint32_t base = 0;      ///< where the packet's bytes begin in the frame
  std::uint32_t tvb_base = 0;  ///< where the bytes of the tvbuff begin in the frame
  std::uint32_t segment = 0;   ///< which packet of a super-frame, from 1; 0: no super-frame
  std::uint32_t segment_count = 0;
  const CaptureAnalysis* analysis = nullptr;  ///< null: there is none
  const PacketFacts* facts = nullptr;         ///< null: it is not analysed
};

/// Adds the tree of a packet and its expert information.
void show_tree(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, const ShownPacket& shown,
               const RecordList& records);
/// The same for PFC and PAUSE, which have no BTH.
void show_flow_control_tree(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, const ShownPacket& shown,
                            const RecordList& records);
/// Adds the tree of one header, which begins at `offset` of the frame as the tvbuff does, and of which the packet has
/// the bytes from the start of the frame on.
void show_header(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, const Packet& packet, std::uint32_t offset);
/// The expert information of a packet alone, where there is no tree.
void report_experts(packet_info* pinfo, const ShownPacket& shown);
/// Writes the columns of a frame, from its first packet.
void show_columns(packet_info* pinfo, const ShownPacket& shown);
/// Puts the marks of the verdicts in front of the Info column.
void show_marks(packet_info* pinfo, const ShownPacket& shown);

}  // namespace roce::plugin
