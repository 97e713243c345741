// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "plugin/records.h"
#include "roce/wire/icrc.h"
#include "roce/wire/packet.h"
#include "roce/wire/super_frame.h"

namespace roce::plugin {

/// Where somebody else's dissector found a packet.
struct PacketPlace {
  Bytes frame;                          ///< what the packet lies in, as captured
  std::uint32_t reported_length = 0;    ///< of the frame on the wire
  std::optional<LinkType> link_type{};  ///< what the frame begins with; none: unknown
  std::uint32_t offset = 0;             ///< where the packet begins in the frame: its GRH (RoCE v1) or BTH
  std::uint32_t length = 0;             ///< of the packet on the wire, from there on
  NetMeta net{};  ///< with its version; addresses and port for a frame in which the codec does not find the packet
};

/// A packet that was found, with how it was found.
struct LocatedPacket {
  Packet packet;
  std::uint32_t base = 0;          ///< where the packet's bytes begin in the frame
  bool has_network_header = true;  ///< its network header is known, so that a wrong ICRC is one
};

/// The packet at a place. The codec follows the frame from its start, then from the IP header right in front of the
/// packet; what it finds in neither is taken from the BTH on.
[[nodiscard]] LocatedPacket locate(const PacketPlace& place);

/// Checks its ICRC; one that is wrong against a network header that was guessed is not checked.
[[nodiscard]] IcrcVerdict check_icrc(const LocatedPacket& located);

/// What is to be shown of a packet: the headers of the field table that Wireshark has no dissector for with their
/// fields, then payload, pad, ICRC and what stopped the parser. Every offset and size lies inside the packet's bytes.
void add_records(const Packet& packet, const IcrcVerdict& icrc, RecordList& records);
/// Which packet of a super-frame it is, from 1.
void add_segment_records(std::uint32_t segment, std::uint32_t count, RecordList& records);
/// What is to be shown of PFC and PAUSE. `link_bits_per_second`: 1000 … 10^13; 0 unknown, and then there are no times.
void add_flow_control_records(const Packet& packet, std::uint64_t link_bits_per_second, RecordList& records);

/// What is to be shown of the header that begins at `offset`: a CN-TAG or a CNM. Nothing where there is neither.
void add_header_records(const Packet& packet, std::uint32_t offset, RecordList& records);

}  // namespace roce::plugin
