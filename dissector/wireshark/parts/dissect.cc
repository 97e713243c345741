// SPDX-License-Identifier: BSD-2-Clause
#include "wireshark/parts/dissect.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "roce/wire/all_headers.h"
#include "roce/wire/cm_messages.h"
#include "roce/wire/mac_control.h"
#include "wireshark/parts/field_numbers.h"

namespace roce::plugin {

namespace {

constexpr std::uint16_t id_of(Derived derived) {
  return static_cast<std::uint16_t>(derived);
}

void add_derived(RecordList& records, Derived id, std::uint64_t value, std::uint32_t offset = 0,
                 std::uint32_t size = 0) {
  records.add({RecordKind::derived, id_of(id), offset, size, value});
}

bool is_there(const Packet& packet, const PacketPlace& place, std::uint32_t base) {
  if (!packet.is_roce()) return false;
  const bool begins_with_grh = packet.version() == RoceVersion::v1;
  return base + (begins_with_grh ? packet.network_offset() : packet.bth_offset()) == place.offset;
}

/// Reads the GRH: RoCE v1 begins with its own network header.
std::optional<NetMeta> read_grh(const PacketPlace& place) {
  if (place.frame.size() < place.offset + kSize<Grh>) return std::nullopt;
  const auto grh = read<Grh>(place.frame.data() + place.offset);
  NetMeta net = place.net;
  net.version = RoceVersion::v1;
  net.source = grh.source;
  net.destination = grh.destination;
  net.traffic_class = static_cast<std::uint8_t>(grh.dscp << 2U | grh.ecn);
  net.hop_limit = grh.hop_limit;
  return net;
}

void add_aeth(RecordList& records, const Aeth& aeth, std::uint32_t offset) {
  const AethSyndrome syndrome = aeth.syndrome;
  add_derived(records, Derived::aeth_reserved, syndrome.value() >> 7U, offset, 1);
  add_derived(records, Derived::aeth_name, syndrome.value(), offset, 1);
  add_derived(records, Derived::aeth_kind, static_cast<std::uint64_t>(syndrome.kind()), offset, 1);
  add_derived(records, Derived::aeth_code, syndrome.code(), offset, 1);
  if (const auto credits = syndrome.credits()) add_derived(records, Derived::aeth_credits, *credits, offset, 1);
  if (const auto wait = syndrome.rnr_timer()) {
    add_derived(records, Derived::aeth_rnr_us, static_cast<std::uint64_t>(wait->count()), offset, 1);
  }
  if (const auto code = syndrome.nak_code()) {
    add_derived(records, Derived::aeth_nak, static_cast<std::uint64_t>(*code), offset, 1);
  }
}

void add_service(RecordList& records, const Layer& layer, ServiceId service) {
  if (!service.is_rdma_ip()) return;
  const FieldInfo* const field = find_field(header_info(layer.id), "service_id");
  if (field == nullptr) return;
  const auto offset = layer.offset + static_cast<std::uint32_t>(field->byte_offset());
  add_derived(records, Derived::service_protocol, service.ip_protocol(), offset + 5, 1);
  add_derived(records, Derived::service_port, service.port(), offset + 6, 2);
}

/// Adds the addresses of the RDMA IP CM in the form in which people write them.
void add_ipv4(RecordList& records, const Layer& layer, const Cma& cma) {
  if (cma.ip_version != 4) return;
  const auto add = [&](Derived id, const Gid& address, std::string_view name) {
    const FieldInfo* const field = find_field(header_info(layer.id), name);
    if (field == nullptr || Cma::from_ipv4(address.ipv4()) != address) return;
    // In the byte order of the network, which is what Wireshark takes.
    std::uint32_t value = 0;
    std::memcpy(&value, address.ipv4().octets.data(), sizeof(value));
    constexpr std::uint32_t kInFront = 12;
    add_derived(records, id, value, layer.offset + static_cast<std::uint32_t>(field->byte_offset()) + kInFront, 4);
  };
  add(Derived::cma_source, cma.source_address, "source_address");
  add(Derived::cma_destination, cma.destination_address, "destination_address");
}

/// Adds the values that follow from the fields of a header and are worth a filter.
void add_meaning(const Packet& packet, const Layer& layer, RecordList& records) {
  const std::byte* const bytes = packet.layer_bytes(layer).data();
  switch (layer.id) {
    case HeaderId::bth:
      add_derived(records, Derived::opcode_name, static_cast<std::uint64_t>(packet.opcode()), layer.offset, 1);
      if (packet.info().defined()) {
        add_derived(records, Derived::service, static_cast<std::uint64_t>(packet.info().service), layer.offset, 1);
        add_derived(records, Derived::operation, static_cast<std::uint64_t>(packet.info().operation), layer.offset, 1);
      }
      break;
    case HeaderId::grh: {
      const auto grh = read<Grh>(bytes);
      add_derived(records, Derived::traffic_class, static_cast<std::uint64_t>(grh.dscp << 2U | grh.ecn), layer.offset,
                  2);
      break;
    }
    case HeaderId::aeth:
      return add_aeth(records, read<Aeth>(bytes), layer.offset);
    case HeaderId::mad: {
      const std::uint32_t begin = layer.offset + layer.size;
      const auto end = packet.payload_offset() + static_cast<std::uint32_t>(packet.payload().size());
      if (begin < end) add_derived(records, Derived::mad_data, end - begin, begin, end - begin);
      break;
    }
    case HeaderId::cm_req:
      return add_service(records, layer, read<CmReq>(bytes).service_id);
    case HeaderId::cm_sidr_req:
      return add_service(records, layer, read<CmSidrReq>(bytes).service_id);
    case HeaderId::cma: {
      add_ipv4(records, layer, read<Cma>(bytes));
      const std::uint32_t begin = layer.offset + layer.size;
      const auto end = packet.payload_offset() + static_cast<std::uint32_t>(packet.payload().size());
      if (begin < end) add_derived(records, Derived::private_data, end - begin, begin, end - begin);
      break;
    }
    default:
      break;
  }
}

void add_header(const Packet& packet, const Layer& layer, RecordList& records) {
  records.add({RecordKind::header, static_cast<std::uint16_t>(layer.id), layer.offset, layer.size, 0});
  std::uint16_t number = FieldNumbers::get().first_of(layer.id);
  for (const FieldInfo& field : header_info(layer.id).fields) {
    const auto first = static_cast<std::uint32_t>(field.byte_offset());
    const auto end = static_cast<std::uint32_t>((field.bit_offset + field.bit_width + 7) / 8);
    records.add({RecordKind::field, number++, layer.offset + first, end - first, 0});
  }
  add_meaning(packet, layer, records);
}

void add_icrc(const Packet& packet, const IcrcVerdict& icrc, RecordList& records) {
  const std::uint32_t offset = packet.has_icrc() ? packet.icrc_offset() : 0;
  const std::uint32_t size = packet.has_icrc() ? 4 : 0;
  if (packet.has_icrc()) add_derived(records, Derived::icrc, packet.stored_icrc(), offset, size);
  add_derived(records, Derived::icrc_status, static_cast<std::uint64_t>(icrc.status), offset, size);
  if (icrc.status == IcrcStatus::bad) add_derived(records, Derived::icrc_computed, icrc.computed, offset, size);
  if (icrc.status == IcrcStatus::good_for_ip_id) add_derived(records, Derived::icrc_ip_id, icrc.ip_id, offset, size);
  if (icrc.status == IcrcStatus::not_checked) {
    add_derived(records, Derived::icrc_unchecked, static_cast<std::uint64_t>(icrc.reason), offset, size);
  }
}

}  // namespace

LocatedPacket locate(const PacketPlace& place) {
  if (place.link_type) {
    const Packet packet = parse_frame(place.frame, *place.link_type, place.reported_length);
    if (is_there(packet, place, 0)) return {packet, 0, true};
  }
  const bool is_v1 = place.net.version == RoceVersion::v1;
  if (!is_v1) {
    for (const std::size_t headers : {kSize<Ipv4> + kSize<Udp>, kSize<Ipv6> + kSize<Udp>}) {
      if (place.offset < headers) continue;
      const auto base = static_cast<std::uint32_t>(place.offset - headers);
      const auto reported = static_cast<std::uint32_t>(place.length + headers);
      const Packet packet = parse_frame(place.frame.subspan(base), LinkType::raw_ip, reported);
      if (is_there(packet, place, base)) return {packet, base, true};
    }
  }
  const std::optional<NetMeta> grh = is_v1 ? read_grh(place) : std::nullopt;
  const std::uint32_t base = place.offset + static_cast<std::uint32_t>(grh ? kSize<Grh> : 0);
  const std::uint32_t length = place.length - std::min(place.length, base - place.offset);
  const Bytes all = place.frame.subspan(std::min<std::size_t>(base, place.frame.size()));
  return {parse_transport(all.first(std::min<std::size_t>(length, all.size())), grh.value_or(place.net), length), base,
          grh.has_value()};
}

IcrcVerdict check_icrc(const LocatedPacket& located) {
  IcrcVerdict verdict = roce::check_icrc(located.packet);
  if (!located.has_network_header && verdict.status == IcrcStatus::bad) verdict = {};
  return verdict;
}

void add_records(const Packet& packet, const IcrcVerdict& icrc, RecordList& records) {
  add_derived(records, Derived::version, static_cast<std::uint64_t>(packet.version()));
  for (const Layer& layer : packet.layers()) {
    // A CN-TAG in front of the packet has been shown by the dissector of the tag.
    if (is_shown(layer.id) && layer.id != HeaderId::cn_tag) add_header(packet, layer, records);
  }
  records.add({RecordKind::end});
  // The contents of a management datagram have been shown as headers.
  if (packet.payload_length() != 0 && !packet.find(HeaderId::mad)) {
    add_derived(records, Derived::payload, packet.payload_length(),
                std::min(packet.payload_offset(), static_cast<std::uint32_t>(packet.bytes().size())),
                static_cast<std::uint32_t>(packet.payload().size()));
  }
  if (!packet.pad().empty()) {
    add_derived(records, Derived::pad, 0, packet.payload_offset() + packet.payload_length(),
                static_cast<std::uint32_t>(packet.pad().size()));
  }
  add_icrc(packet, icrc, records);
  if (packet.problem().reason != ParseReason::none) {
    add_derived(records, Derived::problem, static_cast<std::uint64_t>(packet.problem().reason));
  }
}

void add_segment_records(std::uint32_t segment, std::uint32_t count, RecordList& records) {
  add_derived(records, Derived::segment, segment);
  add_derived(records, Derived::segment_count, count);
}

void add_flow_control_records(const Packet& packet, std::uint64_t link_bits_per_second, RecordList& records) {
  const auto add_time = [&](std::uint16_t quanta, std::uint32_t offset) {
    if (link_bits_per_second == 0) return;
    add_derived(records, Derived::pause_ps, pause_picoseconds(quanta, link_bits_per_second), offset, 2);
  };
  for (const Layer& layer : packet.layers()) {
    if (!is_shown(layer.id)) continue;
    add_header(packet, layer, records);
    const std::byte* const bytes = packet.layer_bytes(layer).data();
    if (layer.id == HeaderId::pause) add_time(read<Pause>(bytes).quanta, layer.offset);
    if (layer.id != HeaderId::pfc) continue;
    const auto pfc = read<Pfc>(bytes);
    for (unsigned priority = 0; priority < 8; ++priority) {
      const FieldInfo& timer = header_info(HeaderId::pfc).fields[9 + priority];
      if (pfc.enabled(priority)) {
        add_time(pfc.timer(priority), layer.offset + static_cast<std::uint32_t>(timer.byte_offset()));
      }
    }
  }
  records.add({RecordKind::end});
}

void add_header_records(const Packet& packet, std::uint32_t offset, RecordList& records) {
  for (const Layer& layer : packet.layers()) {
    if (layer.offset == offset && is_shown(layer.id)) add_header(packet, layer, records);
  }
  records.add({RecordKind::end});
}

}  // namespace roce::plugin
