// SPDX-License-Identifier: BSD-2-Clause
#include <array>

#include "analyze/export/tables.h"
#include "roce/wire/immdt.h"

namespace roce::analyze {

namespace {

using analysis::kNoStream;
using analysis::Observation;
using columns::Cell;
using columns::Type;
using Row = PacketRow;

const Observation& seen(const Row& row) {
  return row.seen;
}

std::string_view kind_name(PacketKind kind) {
  switch (kind) {
    case PacketKind::roce:
      return "roce";
    case PacketKind::pfc:
      return "pfc";
    case PacketKind::pause:
      return "pause";
    default:
      return "other";
  }
}

std::string_view role_name(analysis::PacketRole role) {
  switch (role) {
    case analysis::PacketRole::request:
      return "request";
    case analysis::PacketRole::response:
      return "response";
    case analysis::PacketRole::datagram:
      return "datagram";
    case analysis::PacketRole::cnp:
      return "cnp";
    case analysis::PacketRole::management:
      return "management";
    case analysis::PacketRole::other:
      break;
  }
  return "other";
}

std::string_view icrc_name(IcrcStatus status) {
  switch (status) {
    case IcrcStatus::good:
      return "good";
    case IcrcStatus::bad:
      return "bad";
    case IcrcStatus::good_for_ip_id:
      return "good_for_ip_id";
    case IcrcStatus::not_checked:
      break;
  }
  return "not_checked";
}

bool has_stream(const Row& row) {
  return row.stream != kNoStream;
}

constexpr std::array
    kColumns{TableColumn<Row>{{"run", Type::text, false, "", "name of the run, as --run gives it"},
                              [](const Row& row, Cell& cell) { put_run(cell, *row.facts); }},
             TableColumn<Row>{{"point", Type::text, false, "", "capture point"},
                              [](const Row& row, Cell& cell) { put_point(cell, *row.facts, seen(row).point); }},
             TableColumn<Row>{{"file", Type::text, false, "", "capture file"},
                              [](const Row& row, Cell& cell) {
                                cell.text({0, row.frame_base}, [&] {
                                  return std::string_view{row.facts->files.find(seen(row).id.frame).file->path};
                                });
                              }},
             TableColumn<Row>{{"frame", Type::u64, false, "", "number of the frame in its file, from 1"},
                              [](const Row& row, Cell& cell) { cell.number(row.frame); }},
             TableColumn<Row>{{"segment", Type::u16, false, "", "place in a frame of several packets, from 0"},
                              [](const Row& row, Cell& cell) { cell.number(std::uint64_t{seen(row).id.segment}); }},
             TableColumn<Row>{{"time_ns", Type::i64, true, "ns", "time of the frame since 1970"},
                              [](const Row& row, Cell& cell) {
                                put_if(cell, row.time_ns.has_value(),
                                       static_cast<std::uint64_t>(row.time_ns.value_or(0)));
                              }},
             TableColumn<Row>{{"kind", Type::text, false, "", "roce, pfc or pause"},
                              [](const Row& row, Cell& cell) {
                                put_name(cell, static_cast<std::uint64_t>(seen(row).kind), kind_name(seen(row).kind));
                              }},
             TableColumn<Row>{{"version", Type::text, true, "", "RoCEv1, RoCEv2/IPv4 or RoCEv2/IPv6"},
                              [](const Row& row, Cell& cell) {
                                const RoceVersion version = seen(row).version;
                                put_name_if(cell, row.is_roce, static_cast<std::uint64_t>(version), to_string(version));
                              }},
             TableColumn<Row>{{"stream", Type::u32, true, "", "number of its stream"},
                              [](const Row& row, Cell& cell) { put_if(cell, has_stream(row), row.stream); }},
             TableColumn<Row>{{"direction", Type::u8, true, "", "direction in its stream, 0 or 1"},
                              [](const Row& row, Cell& cell) { put_if(cell, has_stream(row), row.direction); }},
             TableColumn<Row>{{"role", Type::text, false, "", "request, response, datagram, cnp, management or other"},
                              [](const Row& row, Cell& cell) {
                                const analysis::PacketRole role = row.role;
                                put_name(cell, static_cast<std::uint64_t>(role), role_name(role));
                              }},
             TableColumn<Row>{{"message", Type::u64, true, "", "number of its message in its direction, from 1"},
                              [](const Row& row, Cell& cell) { put_if(cell, row.message != 0, row.message); }},
             TableColumn<Row>{
                 {"latency_ns", Type::i64, true, "ns", "of a response: time since the request that it answers"},
                 [](const Row& row, Cell& cell) {
                   put_if(cell, row.latency_ns.has_value(), static_cast<std::uint64_t>(row.latency_ns.value_or(0)));
                 }},
             TableColumn<Row>{{"src", Type::text, true, "", "address of the sender"},
                              [](const Row& row, Cell& cell) { put_address(cell, seen(row).source); }},
             TableColumn<Row>{{"dst", Type::text, true, "", "address of the receiver"},
                              [](const Row& row, Cell& cell) { put_address(cell, seen(row).destination); }},
             TableColumn<Row>{
                 {"src_name", Type::text, true, "", "name of the sender, from --names"},
                 [](const Row& row, Cell& cell) { put_name_of(cell, *row.facts->names, seen(row).source); }},
             TableColumn<Row>{
                 {"dst_name", Type::text, true, "", "name of the receiver, from --names"},
                 [](const Row& row, Cell& cell) { put_name_of(cell, *row.facts->names, seen(row).destination); }},
             TableColumn<Row>{{"src_mac", Type::text, true, "", "Ethernet address of the sender on the captured link"},
                              [](const Row& row, Cell& cell) { put_mac(cell, seen(row).source_mac); }},
             TableColumn<Row>{
                 {"dst_mac", Type::text, true, "", "Ethernet address of the receiver on the captured link"},
                 [](const Row& row, Cell& cell) { put_mac(cell, seen(row).destination_mac); }},
             TableColumn<Row>{{"vlan", Type::u16, true, "", "VLAN of the innermost tag"},
                              [](const Row& row, Cell& cell) {
                                const auto& tag = row.vlan_tci;
                                put_if(cell, tag.has_value(), tag.value_or(0) & 0xFFFU);
                              }},
             TableColumn<Row>{{"pcp", Type::u8, true, "", "priority of the innermost VLAN tag"},
                              [](const Row& row, Cell& cell) {
                                const auto& tag = row.vlan_tci;
                                put_if(cell, tag.has_value(), tag.value_or(0) >> 13U);
                              }},
             TableColumn<Row>{
                 {"dscp", Type::u8, true, "", "differentiated services code point"},
                 [](const Row& row, Cell& cell) { put_if(cell, row.is_roce, seen(row).traffic_class >> 2U); }},
             TableColumn<Row>{
                 {"ecn", Type::u8, true, "", "0 not capable, 1 and 2 capable, 3 congestion experienced"},
                 [](const Row& row, Cell& cell) { put_if(cell, row.is_roce, seen(row).traffic_class & 3U); }},
             TableColumn<Row>{{"hop_limit", Type::u8, true, "", "TTL or hop limit"},
                              [](const Row& row, Cell& cell) { put_if(cell, row.is_roce, seen(row).hop_limit); }},
             TableColumn<Row>{{"ip_id", Type::u16, true, "", "identification of IPv4"},
                              [](const Row& row, Cell& cell) { put_if(cell, seen(row).has_ip_id, seen(row).ip_id); }},
             TableColumn<Row>{{"udp_source_port", Type::u16, true, "", "UDP source port"},
                              [](const Row& row, Cell& cell) {
                                const bool has_udp = row.is_roce && seen(row).version != RoceVersion::v1;
                                put_if(cell, has_udp, seen(row).udp_source_port);
                              }},
             TableColumn<Row>{
                 {"opcode", Type::u8, true, "", "opcode of the BTH"},
                 [](const Row& row,
                    Cell& cell) { put_if(cell, row.is_roce, static_cast<std::uint64_t>(seen(row).opcode)); }},
             TableColumn<Row>{{"opcode_name", Type::text, true, "", "its name, such as RC_WRITE_LAST_IMM"},
                              [](const Row& row, Cell& cell) {
                                put_name_if(cell, row.is_roce, static_cast<std::uint64_t>(seen(row).opcode),
                                            seen(row).info().name);
                              }},
             TableColumn<Row>{{"dest_qp", Type::u32, true, "", "destination QP"},
                              [](const Row& row, Cell& cell) { put_if(cell, row.is_roce, seen(row).dest_qp.value()); }},
             TableColumn<Row>{{"psn", Type::u32, true, "", "packet sequence number"},
                              [](const Row& row, Cell& cell) { put_if(cell, row.is_roce, seen(row).psn.value()); }},
             TableColumn<Row>{{"ack_req", Type::boolean, true, "", "it asks for an acknowledgement"},
                              [](const Row& row, Cell& cell) { put_if(cell, row.is_roce, row.bth.ack_req ? 1 : 0); }},
             TableColumn<Row>{{"solicited", Type::boolean, true, "", "solicited event"},
                              [](const Row& row, Cell& cell) { put_if(cell, row.is_roce, row.bth.solicited ? 1 : 0); }},
             TableColumn<Row>{{"becn", Type::boolean, true, "", "backward explicit congestion notification"},
                              [](const Row& row, Cell& cell) { put_if(cell, row.is_roce, row.bth.becn ? 1 : 0); }},
             TableColumn<Row>{{"fecn", Type::boolean, true, "", "forward explicit congestion notification"},
                              [](const Row& row, Cell& cell) { put_if(cell, row.is_roce, row.bth.fecn ? 1 : 0); }},
             TableColumn<Row>{{"pkey", Type::u16, true, "", "partition key"},
                              [](const Row& row, Cell& cell) { put_if(cell, row.is_roce, row.bth.p_key.value()); }},
             TableColumn<Row>{{"virtual_address", Type::u64, true, "", "address in the RETH or AtomicETH"},
                              [](const Row& row, Cell& cell) {
                                put_if(cell, seen(row).has_reth || seen(row).has_atomic, seen(row).virtual_address);
                              }},
             TableColumn<Row>{{"rkey", Type::u32, true, "", "R_Key in the RETH or AtomicETH"},
                              [](const Row& row, Cell& cell) {
                                put_if(cell, seen(row).has_reth || seen(row).has_atomic, seen(row).r_key.value());
                              }},
             TableColumn<Row>{
                 {"dma_length", Type::u32, true, "bytes", "length of the message in the RETH"},
                 [](const Row& row, Cell& cell) { put_if(cell, seen(row).has_reth, seen(row).dma_length); }},
             TableColumn<Row>{
                 {"syndrome", Type::u8, true, "", "syndrome of the AETH"},
                 [](const Row& row, Cell& cell) { put_if(cell, seen(row).has_aeth, seen(row).syndrome.value()); }},
             TableColumn<Row>{
                 {"msn", Type::u32, true, "", "message sequence number of the AETH"},
                 [](const Row& row, Cell& cell) { put_if(cell, seen(row).has_aeth, seen(row).msn.value()); }},
             TableColumn<Row>{{"immediate", Type::u32, true, "", "immediate data"},
                              [](const Row& row,
                                 Cell& cell) { put_if(cell, row.immediate.has_value(), row.immediate.value_or(0)); }},
             TableColumn<Row>{{"payload", Type::u32, false, "bytes", "payload of the transport, without pad"},
                              [](const Row& row, Cell& cell) { cell.number(std::uint64_t{seen(row).payload_length}); }},
             TableColumn<Row>{
                 {"wire", Type::u32, false, "bytes", "length of the frame; of a segment from its BTH to its ICRC"},
                 [](const Row& row, Cell& cell) { cell.number(std::uint64_t{seen(row).wire_length}); }},
             TableColumn<Row>{{"icrc", Type::text, true, "", "good, bad, not_checked or good_for_ip_id"},
                              [](const Row& row, Cell& cell) {
                                const IcrcStatus status = row.icrc;
                                put_name_if(cell, row.is_roce, static_cast<std::uint64_t>(status), icrc_name(status));
                              }}};

}  // namespace

PacketRow::PacketRow(const RunFacts& run, const AnalysedPacket& packet)
    : facts(&run),
      seen(packet.observation),
      frame(packet.decoded.frame.number),
      frame_base(packet.file.frame_base),
      time_ns(packet.decoded.frame.time_ns),
      stream(packet.analysis.stream),
      direction(packet.analysis.direction),
      role(packet.analysis.role),
      message(packet.analysis.message),
      vlan_tci(packet.decoded.whole.vlan_tci()),
      icrc(packet.decoded.icrc.status),
      is_roce(packet.observation.kind == PacketKind::roce) {
  if (packet.analysis.request) latency_ns = packet.analysis.latency.count();
  if (!is_roce) return;
  bth = packet.decoded.packet.bth();
  if (const auto header = packet.decoded.packet.get<ImmDt>()) immediate = header->data;
}

std::span<const TableColumn<PacketRow>> packet_columns() {
  return kColumns;
}

}  // namespace roce::analyze
