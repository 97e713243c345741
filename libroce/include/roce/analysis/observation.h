// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>

#include "roce/wire/aeth.h"
#include "roce/wire/icrc.h"
#include "roce/wire/mad.h"
#include "roce/wire/opcode.h"
#include "roce/wire/packet.h"
#include "roce/wire/time.h"
#include "roce/wire/types.h"

namespace roce::analysis {

/// A packet of a capture: the number of its frame, from 1 in the order of the capture, and its place in the frame,
/// which is 0 unless the frame holds several packets (segmentation offload). Ordered as captured.
struct PacketId {
  std::uint64_t frame = 0;  ///< 0: no packet
  std::uint32_t segment = 0;

  [[nodiscard]] constexpr explicit operator bool() const { return frame != 0; }
  friend constexpr bool operator==(PacketId, PacketId) = default;
  friend constexpr auto operator<=>(PacketId, PacketId) = default;
};

/// The content of a CM message; `attribute` is 0 if the packet is not one. RTU, REJ, MRA and DREP have identifiers but
/// no QPN, and SIDR, LAP and APR messages have no identifiers either.
struct CmFacts {
  MadAttribute attribute{};
  std::uint32_t local_id = 0;        ///< communication identifier of the sender
  std::uint32_t remote_id = 0;       ///< communication identifier of the receiver, if the message has it
  Qpn local_qpn{};                   ///< REQ and REP: QPN of the sender; DREQ: of the receiver
  Psn starting_psn{};                ///< REQ and REP: the first PSN that the sender expects
  std::uint16_t path_mtu = 0;        ///< REQ: bytes; 0 unknown
  std::uint64_t transaction_id = 0;  ///< the same in a message, its repetitions, and what answers it
};

/// The part of a packet that the analysis keeps.
/// Made where the packet is decoded, possibly in another thread; does not refer to the packet.
struct Observation {
  static constexpr std::uint8_t kNoPriority = 0xFF;  ///< `link_priority` of a frame without a VLAN tag

  Time time{};  ///< on the capture's clock; less than 2^62 ns before or after its epoch
  PacketId id{};
  Gid source{};
  Gid destination{};
  std::uint64_t domain = 0;           ///< distinguishes VLANs, tunnels and RoCE versions: a stream never spans two
  std::uint64_t virtual_address = 0;  ///< RETH, AtomicETH
  std::uint32_t dma_length = 0;       ///< RETH
  RKey r_key{};                       ///< RETH, AtomicETH
  Qpn dest_qp{};
  Qpn source_qp{};  ///< DETH
  Psn psn{};
  Msn msn{};                         ///< AETH
  std::uint32_t payload_length = 0;  ///< bytes on the wire, without pad
  std::uint32_t wire_length = 0;     ///< bytes of the frame; of a segment: from its BTH through its ICRC
  std::uint32_t icrc = 0;            ///< as on the wire; if the packet is cut, a digest of what is left; see `has_bits`
  std::uint16_t ip_id = 0;           ///< only with `has_ip_id`
  std::uint16_t udp_source_port = 0;
  std::uint16_t point = 0;  ///< number of the capture point; packets of different points never share a stream
  PacketKind kind = PacketKind::other;
  RoceVersion version = RoceVersion::none;
  Opcode opcode{};
  AethSyndrome syndrome{};  ///< only with `has_aeth`
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 0;
  std::uint8_t priority = 0;  ///< PCP of the innermost VLAN tag
  std::uint8_t pad_count = 0;
  std::uint8_t transport_version = 0;  ///< TVer
  bool has_icrc = false;
  bool icrc_bad = false;   ///< it was checked and is wrong
  bool icrc_good = false;  ///< it was checked and is right: the packet is as its sender sent it
  bool has_ip_id = false;
  bool has_aeth = false;
  bool has_reth = false;
  bool has_atomic = false;
  bool ack_req = false;
  bool solicited = false;
  bool is_whole = false;    ///< nothing is missing but what a snap length cut off behind the BTH
  bool is_cut = false;      ///< a snap length cut something off: the ICRC was not checked, and headers may be missing
  bool is_several = false;  ///< further packets, of which nothing was captured, were behind it in its frame
  MacAddress source_mac{};  ///< on the captured link; zeros if that is not Ethernet
  MacAddress destination_mac{};
  std::uint8_t link_priority = kNoPriority;  ///< PCP of the outermost VLAN tag
  CmFacts cm{};
  std::array<std::uint16_t, 8> pause_quanta{};  ///< by priority, for PAUSE all equal: units of 512 bit times
  std::uint8_t pause_enabled = 0;               ///< bit n: the frame applies to priority n; PAUSE: 0xFF

  [[nodiscard]] const OpcodeInfo& info() const { return opcode_info(opcode); }
  /// True if `icrc` distinguishes packets with different bits: those of the whole packet, or of what is left of it.
  [[nodiscard]] bool has_bits() const { return has_icrc || is_cut; }
  /// True if a READ's length is unknown.
  [[nodiscard]] bool lacks_length() const { return info().operation == Operation::read_request && !has_reth; }
  /// True if it is an ACK or a NAK, and unknown which.
  [[nodiscard]] bool lacks_syndrome() const { return info().operation == Operation::acknowledge && !has_aeth; }
  /// True if a PFC or PAUSE frame pauses any priority, and does not only resume.
  [[nodiscard]] bool pauses() const;
  [[nodiscard]] bool is_ce() const { return (traffic_class & 3) == 3; }
};

/// Returns the time within the bounds of `Observation::time` that is nearest.
[[nodiscard]] Time limited(Time time);

/// Extracts from `packet` what the analysis needs. `time` is on the capture's clock;
/// a time 2^62 ns (146 years) or more away from its epoch is replaced by the nearest one within that limit.
[[nodiscard]] Observation observe_packet(const Packet& packet, const IcrcVerdict& icrc, Time time, PacketId id);

}  // namespace roce::analysis
