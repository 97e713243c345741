// SPDX-License-Identifier: GPL-2.0-or-later
#include "wireshark/epan/dissector.h"

#include <optional>

#include "roce/wire/qcn.h"
#include "wireshark/epan/builtin_filters.h"
#include "wireshark/epan/fields.h"
#include "wireshark/epan/follow.h"
#include "wireshark/epan/ports.h"
#include "wireshark/epan/preferences.h"
#include "wireshark/epan/show.h"
#include "wireshark/epan/tap.h"
#include "wireshark/epan/upper_protocols.h"
#include "wireshark/parts/dissect.h"
#include "wireshark/parts/marks.h"

namespace roce::plugin {

namespace {

OpenCapture capture;

/// Returns the type of the first header of the file's frames, if the codec knows it.
std::optional<LinkType> link_type(const packet_info* pinfo) {
  if (pinfo->rec == nullptr || pinfo->rec->rec_type != REC_TYPE_PACKET) return std::nullopt;
  switch (pinfo->rec->rec_header.packet_header.pkt_encap) {
    case WTAP_ENCAP_ETHERNET:
      return LinkType::ethernet;
    case WTAP_ENCAP_RAW_IP:
    case WTAP_ENCAP_RAW_IP4:
    case WTAP_ENCAP_RAW_IP6:
      return LinkType::raw_ip;
    case WTAP_ENCAP_SLL:
      return LinkType::linux_sll;
    case WTAP_ENCAP_SLL2:
      return LinkType::linux_sll2;
    default:
      return std::nullopt;
  }
}

std::optional<Gid> gid_of(const address& from) {
  if (from.type == AT_IPv4 && from.len == 4) {
    Ipv4Address address;
    std::copy_n(static_cast<const std::uint8_t*>(from.data), 4, address.octets.begin());
    return Gid::from_ipv4(address);
  }
  if (from.type == AT_IPv6 && from.len == 16) {
    Gid gid;
    std::copy_n(static_cast<const std::uint8_t*>(from.data), 16, gid.octets.begin());
    return gid;
  }
  return std::nullopt;
}

/// Returns the bytes of a tvbuff that were captured.
Bytes captured_bytes(tvbuff_t* tvb) {
  const guint length = tvb_captured_length(tvb);
  if (length == 0) return {};
  return std::as_bytes(std::span{tvb_get_ptr(tvb, 0, static_cast<gint>(length)), length});
}

PacketPlace place_of(tvbuff_t* tvb, const packet_info* pinfo, RoceVersion version) {
  tvbuff_t* const frame = tvb_get_ds_tvb(tvb);
  PacketPlace place;
  place.frame = captured_bytes(frame);
  place.reported_length = tvb_reported_length(frame);
  const bool is_frame = place.frame.size() == pinfo->fd->cap_len && place.reported_length == pinfo->fd->pkt_len;
  if (is_frame) place.link_type = link_type(pinfo);
  place.offset = static_cast<std::uint32_t>(tvb_raw_offset(tvb));
  place.length = tvb_reported_length(tvb);
  place.net.version = version;
  place.net.source = gid_of(pinfo->net_src).value_or(Gid{});
  place.net.destination = gid_of(pinfo->net_dst).value_or(Gid{});
  place.net.udp_source_port = static_cast<std::uint16_t>(pinfo->srcport);
  return place;
}

Time time_of(const packet_info* pinfo) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  // A time that does not fit into 64 bits of nanoseconds is not valid.
  std::int64_t nanoseconds = 0;
  if (__builtin_mul_overflow(static_cast<std::int64_t>(pinfo->abs_ts.secs), kSecond, &nanoseconds)) return Time{};
  if (__builtin_add_overflow(nanoseconds, std::int64_t{pinfo->abs_ts.nsecs}, &nanoseconds)) return Time{};
  return Time{Duration{nanoseconds}};
}

/// Each interface of a capture file is a capture point: what two of them saw was not sent twice.
std::uint16_t point_of(const packet_info* pinfo) {
  if (pinfo->rec == nullptr || (pinfo->rec->presence_flags & WTAP_HAS_INTERFACE_ID) == 0) return 0;
  return static_cast<std::uint16_t>(pinfo->rec->rec_header.packet_header.interface_id);
}

const PacketFacts* facts_of(const packet_info* pinfo, const ShownPacket& shown, std::uint32_t offset) {
  // A packet quoted by an ICMP error was sent earlier; it is not sent again.
  if (!preferences().analyse || pinfo->flags.in_error_pkt != 0) return nullptr;
  if (pinfo->fd->visited) return capture.find(pinfo->num, offset);
  return capture.observe(shown.packet, shown.icrc, {pinfo->num, time_of(pinfo), point_of(pinfo), shown.hides_others},
                         offset);
}

/// Shows and analyses one packet of a frame, and adds its marks to those of the frame.
void take_packet(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, ShownPacket shown, Marks& marks) {
  const std::uint32_t begin = shown.base + shown.packet.bth_offset();
  shown.facts = facts_of(pinfo, shown, begin);
  shown.analysis = capture.analysis();
  queue_for_taps(pinfo, shown.packet, shown.icrc, begin, time_of(pinfo));
  queue_for_follow(pinfo, shown);
  const bool is_wrapped = preferences().dissector() == Mode::wrap;
  if (preferences().marks) marks.add(shown.icrc.status, shown.analysis, shown.facts);
  if (shown.segment <= 1 && !is_wrapped) show_columns(pinfo, shown, marks);
  if (tree == nullptr) {
    report_experts(pinfo, shown);
  } else {
    RecordList records;
    add_records(shown.packet, shown.icrc, records);
    if (shown.segment != 0) add_segment_records(shown.segment, shown.segment_count, records);
    show_tree(tvb, pinfo, tree, shown, records);
  }
  if (!is_wrapped) dissect_upper_protocols(tvb, pinfo, tree, shown);
}

void set_address(packet_info* pinfo, address* address, const Gid& gid) {
  constexpr int kIpv4 = 4;
  constexpr int kIpv6 = 16;
  if (gid.is_ipv4_mapped()) {
    alloc_address_wmem(pinfo->pool, address, AT_IPv4, kIpv4, gid.octets.data() + kIpv6 - kIpv4);
  } else {
    alloc_address_wmem(pinfo->pool, address, AT_IPv6, kIpv6, gid.octets.data());
  }
}

/// Sets the GIDs as addresses: RoCE v1 goes from GID to GID.
void set_addresses(packet_info* pinfo, const NetMeta& net) {
  set_address(pinfo, &pinfo->net_src, net.source);
  set_address(pinfo, &pinfo->net_dst, net.destination);
  copy_address_shallow(&pinfo->src, &pinfo->net_src);
  copy_address_shallow(&pinfo->dst, &pinfo->net_dst);
}

/// True if the built-in dissectors are to work alone; "Decode As" may still lead here.
bool is_off() {
  return preferences().dissector() == Mode::off;
}

int dissect(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, RoceVersion version) {
  if (is_off()) return call_builtin(version, tvb, pinfo, tree);
  const PacketPlace place = place_of(tvb, pinfo, version);
  const LocatedPacket located = locate(place);
  const Packet& packet = located.packet;
  if (!packet.is_roce()) return 0;
  if (preferences().dissector() == Mode::wrap) {
    col_clear(pinfo->cinfo, COL_INFO);
  } else {
    warn_of_builtin_fields(pinfo);
    if (version == RoceVersion::v1) set_addresses(pinfo, packet.net());
  }
  const IcrcVerdict icrc = preferences().check_icrc ? check_icrc(located) : IcrcVerdict{};
  const bool may_be_several = preferences().check_icrc && icrc.status != IcrcStatus::good;
  const std::optional<SuperFrame> several = may_be_several ? find_super_frame(packet) : std::nullopt;
  ShownPacket shown{.packet = packet, .icrc = icrc, .base = located.base, .tvb_base = place.offset};
  Marks marks;
  if (!several) take_packet(tvb, pinfo, tree, shown, marks);
  const std::uint32_t captured = several ? captured_count(packet, *several) : 0;
  for (std::uint32_t i = 0; several && i < several->count; ++i) {
    const Packet part = segment(packet, *several, i);
    // The capture ends in front of it, or inside of its BTH.
    if (!part.is_roce()) break;
    const IcrcVerdict verdict = roce::check_icrc(part);
    take_packet(tvb, pinfo, tree,
                {.packet = part,
                 .icrc = verdict,
                 .base = located.base + packet.bth_offset() + i * several->segment_size,
                 .tvb_base = place.offset,
                 .segment = i + 1,
                 .segment_count = several->count,
                 .hides_others = i + 1 == captured && captured < several->count},
                marks);
  }
  // Now that upper protocols have overwritten the Info column.
  show_marks(pinfo, marks);
  if (preferences().dissector() == Mode::wrap) {
    // Called last, since it may leave by an exception; it clears the column up to the fence.
    col_set_fence(pinfo->cinfo, COL_INFO);
    call_builtin(version, tvb, pinfo, tree);
  }
  return static_cast<int>(tvb_captured_length(tvb));
}

}  // namespace

int dissect_v2(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* /*data*/) {
  // RoCE is sent to its port; a packet from that port may belong to any protocol.
  if (!is_roce_port(pinfo->destport)) return 0;
  return dissect(tvb, pinfo, tree, pinfo->net_src.type == AT_IPv6 ? RoceVersion::v2_ipv6 : RoceVersion::v2_ipv4);
}

int dissect_v1(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* /*data*/) {
  return dissect(tvb, pinfo, tree, RoceVersion::v1);
}

int dissect_mac_control(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* /*data*/) {
  const int taken = call_builtin_mac_control(tvb, pinfo, tree);
  if (is_off()) return taken;
  const PacketPlace place = place_of(tvb, pinfo, RoceVersion::none);
  if (place.link_type == LinkType::ethernet) {
    const Packet packet = parse_frame(place.frame, LinkType::ethernet, place.reported_length);
    if (packet.kind() == PacketKind::pfc || packet.kind() == PacketKind::pause) {
      const IcrcVerdict icrc{};
      ShownPacket shown{.packet = packet, .icrc = icrc, .base = 0, .tvb_base = place.offset};
      shown.facts = facts_of(pinfo, shown, place.offset);
      shown.analysis = capture.analysis();
      queue_for_taps(pinfo, packet, icrc, place.offset, time_of(pinfo));
      RecordList records;
      add_flow_control_records(packet, preferences().link_bits_per_second(), records);
      if (tree != nullptr) show_flow_control_tree(tvb, pinfo, tree, shown, records);
    }
  }
  return static_cast<int>(tvb_captured_length(tvb));
}

int dissect_cn_tag(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* /*data*/) {
  const PacketPlace place = place_of(tvb, pinfo, RoceVersion::none);
  if (is_off() || place.link_type != LinkType::ethernet) return 0;
  const Packet packet = parse_frame(place.frame, LinkType::ethernet, place.reported_length);
  const std::optional<Layer> tag = packet.find(HeaderId::cn_tag);
  if (!tag || tag->offset != place.offset) return 0;
  const auto ether_type = static_cast<guint32>(read<CnTag>(packet.layer_bytes(*tag).data()).ether_type);
  show_header(tvb, pinfo, tree, packet, place.offset);
  constexpr int kTag = static_cast<int>(kSize<CnTag>);
  return kTag + call_ethertype(ether_type, tvb_new_subset_remaining(tvb, kTag), pinfo, tree);
}

int dissect_cnm(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* /*data*/) {
  const PacketPlace place = place_of(tvb, pinfo, RoceVersion::none);
  if (is_off() || place.link_type != LinkType::ethernet) return 0;
  const Packet packet = parse_frame(place.frame, LinkType::ethernet, place.reported_length);
  if (packet.kind() != PacketKind::cnm) return 0;
  col_set_str(pinfo->cinfo, COL_PROTOCOL, "CNM");
  show_header(tvb, pinfo, tree, packet, place.offset);
  return static_cast<int>(tvb_captured_length(tvb));
}

void begin_capture() {
  take_ports();
  begin_upper_protocols();
  capture.end();
  if (preferences().analyse) capture.begin({.link_bits_per_second = preferences().link_bits_per_second()});
}

void finish_first_pass() {
  capture.finish();
}

void end_capture() {
  capture.end();
}

const OpenCapture& open_capture() {
  return capture;
}

}  // namespace roce::plugin
