// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>

#include "roce/wire/icrc.h"
#include "roce/wire/packet.h"
#include "wireshark/epan/epan.h"
#include "wireshark/parts/capture_analysis.h"
#include "wireshark/parts/marks.h"
#include "wireshark/parts/records.h"

namespace roce::plugin {

/// A packet that is to be shown.
struct ShownPacket {
  const Packet& packet;
  const IcrcVerdict& icrc;
  std::uint32_t base = 0;      ///< offset of the packet's bytes in the frame
  std::uint32_t tvb_base = 0;  ///< offset of the tvbuff's bytes in the frame
  std::uint32_t segment = 0;   ///< number of the packet in a super-frame, from 1; 0: not a super-frame
  std::uint32_t segment_count = 0;
  bool hides_others = false;                  ///< the next packets of the super-frame were not captured
  const CaptureAnalysis* analysis = nullptr;  ///< null: there is no analysis
  const PacketFacts* facts = nullptr;         ///< null: the packet is not analysed
};

/// Adds the tree of a packet and its expert information.
void show_tree(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, const ShownPacket& shown,
               const RecordList& records);
/// Adds the tree of a PFC or PAUSE frame, which does not have a BTH, and its expert information.
void show_flow_control_tree(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, const ShownPacket& shown,
                            const RecordList& records);
/// Adds the tree of one header. The header and the tvbuff begin at `offset` of the frame, and the packet has the
/// frame's bytes from the start on.
void show_header(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, const Packet& packet, std::uint32_t offset);
/// Adds the expert information of a packet without a tree.
void report_experts(packet_info* pinfo, const ShownPacket& shown);
/// Writes the columns of a frame, from its first packet; `marks` are those that the Info column will begin with.
void show_columns(packet_info* pinfo, const ShownPacket& shown, const Marks& marks);
/// Puts the marks of a frame at the start of the Info column.
void show_marks(packet_info* pinfo, const Marks& marks);

}  // namespace roce::plugin
