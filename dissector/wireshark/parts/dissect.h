// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "roce/wire/icrc.h"
#include "roce/wire/packet.h"
#include "roce/wire/super_frame.h"
#include "wireshark/parts/records.h"

namespace roce::plugin {

/// The place at which another dissector found a packet.
struct PacketPlace {
  Bytes frame;                          ///< the bytes that contain the packet, as captured
  std::uint32_t reported_length = 0;    ///< length of the frame on the wire
  std::optional<LinkType> link_type{};  ///< the type of the frame's first header; not set: unknown
  std::uint32_t offset = 0;             ///< offset in the frame of the packet's first header: GRH (RoCE v1) or BTH
  std::uint32_t length = 0;             ///< length of the packet on the wire, from `offset` on
  NetMeta net{};  ///< with its version; its addresses and port are used if the codec cannot find the packet
};

/// A packet that was found, and how.
struct LocatedPacket {
  Packet packet;
  std::uint32_t base = 0;          ///< offset of the packet's bytes in the frame
  bool has_network_header = true;  ///< the network header is known, so that a wrong ICRC is conclusive
};

/// Parses the packet at a place. The codec walks the frame from its start, or else from the IP header just in front of
/// the packet; if neither leads to the packet, it starts at the BTH.
[[nodiscard]] LocatedPacket locate(const PacketPlace& place);

/// Checks the ICRC; one that is wrong against a guessed network header is reported as not checked.
[[nodiscard]] IcrcVerdict check_icrc(const LocatedPacket& located);

/// Adds what is to be shown of a packet: the headers for which Wireshark has no dissector, with their fields, then
/// payload, pad, ICRC and what stopped the parser. Every offset and size lies inside the packet's bytes.
void add_records(const Packet& packet, const IcrcVerdict& icrc, RecordList& records);
/// Adds the number of a packet in its super-frame, from 1, and the number of packets.
void add_segment_records(std::uint32_t segment, std::uint32_t count, RecordList& records);
/// Adds what is to be shown of PFC and PAUSE. `link_bits_per_second`: 1000 … 10^13; 0: unknown, so no times are shown.
void add_flow_control_records(const Packet& packet, std::uint64_t link_bits_per_second, RecordList& records);

/// Adds what is to be shown of the header at `offset`, a CN-TAG or a CNM. Adds nothing if there is neither.
void add_header_records(const Packet& packet, std::uint32_t offset, RecordList& records);

}  // namespace roce::plugin
