// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/decode/json_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "roce/wire/aeth.h"
#include "roce/wire/fields.h"
#include "roce/wire/visit.h"

namespace roce::analyze {

namespace {

using Json = nlohmann::ordered_json;

/// Makes an object with one member: for some compilers `Json{{name, value}}` is an array.
Json one(std::string_view name, Json value) {
  Json object = Json::object();
  object[std::string{name}] = std::move(value);
  return object;
}

std::string hex_text(Bytes bytes) {
  text::TextBuffer text;
  text::append_hex(text, bytes);
  return fmt::to_string(text);
}

std::string_view status_name(IcrcStatus status) {
  switch (status) {
    case IcrcStatus::good:
      return "good";
    case IcrcStatus::bad:
      return "bad";
    case IcrcStatus::not_checked:
      return "not_checked";
    case IcrcStatus::good_for_ip_id:
      return "good_for_ip_id";
  }
  return {};
}

std::string_view reason_name(IcrcUnchecked reason) {
  switch (reason) {
    case IcrcUnchecked::none:
      return "none";
    case IcrcUnchecked::not_roce:
      return "not_roce";
    case IcrcUnchecked::cut_short:
      return "cut_short";
    case IcrcUnchecked::fragmented:
      return "fragmented";
    case IcrcUnchecked::malformed:
      return "malformed";
  }
  return {};
}

std::string_view kind_name(PacketKind kind) {
  switch (kind) {
    case PacketKind::other:
      return "other";
    case PacketKind::roce:
      return "roce";
    case PacketKind::pfc:
      return "pfc";
    case PacketKind::pause:
      return "pause";
    case PacketKind::mac_control:
      return "mac_control";
    case PacketKind::lldp:
      return "lldp";
    case PacketKind::cnm:
      return "cnm";
  }
  return {};
}

/// The JSON type depends on the field alone, never on its value: some readers of JSON are exact only up to 53 bits.
Json field_json(const FieldInfo& field, Bytes header) {
  constexpr unsigned kExactBits = 53;
  if (is_octets(field) || field.bit_width > kExactBits) return field_text(field, header);
  const std::uint64_t value = field_number(field, header);
  switch (field.format) {
    case FieldFormat::boolean:
      return value != 0;
    case FieldFormat::signed_decimal: {
      const unsigned unused = 64U - field.bit_width;
      return static_cast<std::int64_t>(value << unused) >> unused;
    }
    default:
      return value;
  }
}

Json header_json(const HeaderInfo& header, Bytes bytes) {
  if (header.fields.empty()) return one("bytes", hex_text(bytes));
  Json object = Json::object();
  for (const FieldInfo& field : header.fields) {
    object[std::string{field.name}] = field_json(field, bytes);
    if (is_octets(field)) continue;
    const std::string_view name = field.value_name(field_number(field, bytes));
    if (!name.empty()) object[fmt::format("{}_name", field.name)] = name;
  }
  if (header.id == HeaderId::aeth) object["meaning"] = to_string(read<Aeth>(bytes.data()).syndrome);
  return object;
}

/// True if a header is part of an LLDP TLV.
bool is_lldp_part(HeaderId id) {
  return id >= HeaderId::lldp_org && id <= HeaderId::dcbx_app_entry;
}

/// Adds the innermost header of each kind as `{name: ...}`; outer headers of the same kind (tags, tunnels) go into the
/// array `outer`, outermost first. LLDP TLVs go into the array `lldp`.
void add_headers(Json& object, const packet_text::DecodedPacket& decoded) {
  std::vector<HeaderId> order;
  packet_text::visit_decoded(decoded,
                             [&](const HeaderInfo& header, Bytes, std::size_t) { order.push_back(header.id); });
  Json outer = Json::array();
  std::size_t index = 0;
  packet_text::visit_decoded(decoded, [&](const HeaderInfo& header, Bytes bytes, std::size_t) {
    const std::string name{header.name};
    const std::size_t position = index++;
    if (header.id == HeaderId::lldp_tlv) {
      object["lldp"].push_back(one(name, header_json(header, bytes)));
    } else if (is_lldp_part(header.id)) {
      Json& tlv = object["lldp"].back();
      if (header.id == HeaderId::dcbx_app_entry) {
        tlv[name].push_back(header_json(header, bytes));
      } else {
        tlv[name] = header_json(header, bytes);
      }
    } else {
      const auto behind = order.begin() + static_cast<std::ptrdiff_t>(position) + 1;
      const bool repeats = std::find(behind, order.end(), header.id) != order.end();
      if (repeats) {
        outer.push_back(one(name, header_json(header, bytes)));
      } else {
        object[name] = header_json(header, bytes);
      }
    }
  });
  if (!outer.empty()) object["outer"] = std::move(outer);
}

Json bytes_json(std::uint32_t offset, std::uint32_t length, Bytes captured, bool with_bytes) {
  Json object{{"offset", offset}, {"length", length}};
  if (captured.size() != length) object["captured"] = captured.size();
  if (with_bytes) object["bytes"] = hex_text(captured);
  return object;
}

Json problem_json(const ParseError& problem, std::uint32_t base) {
  return {{"message", to_string(problem)},
          {"header", header_info(problem.layer).name},
          {"offset", base + problem.offset},
          {"needed", problem.needed},
          {"available", problem.available}};
}

Json icrc_json(const packet_text::DecodedPacket& decoded, bool explain) {
  const IcrcVerdict& icrc = decoded.icrc;
  Json object = one("status", status_name(icrc.status));
  if (icrc.status == IcrcStatus::not_checked) {
    object["reason"] = reason_name(icrc.reason);
  } else {
    object["offset"] = decoded.base + decoded.packet.icrc_offset();
    object["stored"] = icrc.stored;
    object["computed"] = icrc.computed;
  }
  if (icrc.status == IcrcStatus::good_for_ip_id) object["ip_id"] = icrc.ip_id;
  if (explain && icrc.status == IcrcStatus::bad) {
    object["explanation"] = to_string(explain_icrc(decoded.packet), decoded.packet, decoded.base);
  }
  return object;
}

Json frame_json(const packet_text::FrameInfo& frame, packet_text::UtcText& utc) {
  Json object{{"file", frame.file}, {"number", frame.number}};
  if (frame.segment != 0) {
    object["segment"] = frame.segment;
    object["segments"] = frame.segments;
  }
  if (frame.time_ns) {
    const auto text = [](const auto& append_time) {
      text::TextBuffer out;
      append_time(out);
      return fmt::to_string(out);
    };
    object["time"] = text([&](text::TextBuffer& out) { utc.append(out, *frame.time_ns, 9); });
    object["time_epoch"] = text([&](text::TextBuffer& out) { packet_text::append_seconds(out, *frame.time_ns, 9); });
    object["time_relative"] =
        text([&](text::TextBuffer& out) { packet_text::append_seconds(out, frame.relative_ns, 9); });
  }
  object["length"] = frame.length;
  object["captured"] = frame.captured;
  object["link_type"] = frame.link_type;
  object["interface"] = frame.interface_id;
  if (!frame.interface_name.empty()) object["interface_name"] = frame.interface_name;
  if (!frame.comment.empty()) object["comment"] = frame.comment;
  if (frame.drops) object["drops"] = *frame.drops;
  return object;
}

}  // namespace

void JsonFormat::append_packet(text::TextBuffer& out, const packet_text::DecodedPacket& decoded) {
  const Packet& packet = decoded.packet;
  Json object{{"frame", frame_json(decoded.frame, utc_)}, {"kind", kind_name(packet.kind())}};
  if (packet.is_roce()) {
    const std::string_view name = packet.info().name;
    object["roce"] = {{"version", to_string(packet.version())}, {"opcode", name.empty() ? Json{} : Json(name)}};
  }
  add_headers(object, decoded);
  if (packet.is_roce()) {
    object["payload"] =
        bytes_json(decoded.base + packet.payload_offset(), packet.payload_length(), packet.payload(), options_.payload);
    if (!packet.pad().empty()) object["pad"] = one("bytes", hex_text(packet.pad()));
    object["icrc"] = icrc_json(decoded, options_.explain);
    if (!packet.trailer().empty()) object["trailer"] = one("bytes", hex_text(packet.trailer()));
  } else if (packet.kind() != PacketKind::lldp && packet.payload_length() != 0) {
    object["data"] = bytes_json(packet.payload_offset(), packet.payload_length(), packet.payload(), options_.payload);
  }
  if (packet.problem().reason != ParseReason::none) object["problem"] = problem_json(packet.problem(), decoded.base);
  // Names and comments come from files and may contain invalid UTF-8.
  text::append(out, object.dump(-1, ' ', false, Json::error_handler_t::replace));
  out.push_back('\n');
}

}  // namespace roce::analyze
