// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/filter/wire_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "roce/wire/fields.h"

namespace roce::analyze {

namespace {

/// The fields of a packet that are not fields of its headers.
enum class Extra : std::uint8_t {
  none,
  roce,
  version,
  source,
  destination,
  address,
  icrc_status,
  payload_length,
  problem,
  number,
  time,
  time_relative,
  length,
  captured,
  segment,
  file,
  interface_name,
  comment,
};

constexpr std::uint64_t code(auto value) {
  return static_cast<std::uint64_t>(value);
}

constexpr std::array kIcrcNames{ValueName{code(IcrcStatus::good), "good"}, ValueName{code(IcrcStatus::bad), "bad"},
                                ValueName{code(IcrcStatus::not_checked), "not_checked"}};
constexpr std::array kVersionNames{ValueName{code(RoceVersion::v1), to_string(RoceVersion::v1)},
                                   ValueName{code(RoceVersion::v2_ipv4), to_string(RoceVersion::v2_ipv4)},
                                   ValueName{code(RoceVersion::v2_ipv6), to_string(RoceVersion::v2_ipv6)}};

struct ExtraField {
  Extra extra;
  std::string_view name;
  FieldType type;
  std::span<const ValueName> value_names{};
};

constexpr std::array kExtras{
    ExtraField{Extra::roce, "roce", FieldType::presence},
    ExtraField{Extra::version, "roce.version", FieldType::number, kVersionNames},
    ExtraField{Extra::source, "roce.src", FieldType::address},
    ExtraField{Extra::destination, "roce.dst", FieldType::address},
    ExtraField{Extra::address, "roce.addr", FieldType::address},
    ExtraField{Extra::icrc_status, "roce.icrc.status", FieldType::number, kIcrcNames},
    ExtraField{Extra::payload_length, "roce.payload_length", FieldType::number},
    ExtraField{Extra::problem, "roce.problem", FieldType::boolean},
    ExtraField{Extra::number, "frame.number", FieldType::number},
    ExtraField{Extra::time, "frame.time", FieldType::time},
    ExtraField{Extra::time_relative, "frame.time_relative", FieldType::duration},
    ExtraField{Extra::length, "frame.len", FieldType::number},
    ExtraField{Extra::captured, "frame.cap_len", FieldType::number},
    ExtraField{Extra::segment, "frame.segment", FieldType::number},
    ExtraField{Extra::file, "frame.file", FieldType::text},
    ExtraField{Extra::interface_name, "frame.interface_name", FieldType::text},
    ExtraField{Extra::comment, "frame.comment", FieldType::text},
};

/// The source of the value of one field of the catalogue.
struct Origin {
  Extra extra = Extra::none;
  HeaderId header = HeaderId::none;
  const FieldInfo* field = nullptr;  ///< null: the header itself
};

FieldType type_of(const FieldInfo& field) {
  switch (field.format) {
    case FieldFormat::mac:
      return FieldType::mac;
    case FieldFormat::ipv4:
    case FieldFormat::gid:
      return FieldType::address;
    case FieldFormat::boolean:
      return FieldType::boolean;
    case FieldFormat::signed_decimal:
      return FieldType::integer;
    default:
      return is_octets(field) ? FieldType::bytes : FieldType::number;
  }
}

bool is_header(HeaderId id) {
  return id != HeaderId::none && id != HeaderId::payload && id != HeaderId::icrc;
}

/// The origins of all fields and the fields themselves, in the order of their ids.
struct Table {
  std::vector<Origin> origins;
  FieldCatalogue catalogue;

  Table() {
    for (const HeaderInfo& header : header_table()) {
      if (!is_header(header.id)) continue;
      add({Extra::none, header.id, nullptr}, {std::string{header.name}, FieldType::presence});
      for (const FieldInfo& field : header.fields) {
        add({Extra::none, header.id, &field},
            {fmt::format("{}.{}", header.name, field.name), type_of(field), field.value_names, field.bit_width});
      }
    }
    for (const ExtraField& row : kExtras) {
      add({row.extra, HeaderId::none, nullptr}, {std::string{row.name}, row.type, row.value_names});
    }
  }

 private:
  void add(const Origin& origin, FilterField field) {
    origins.push_back(origin);
    catalogue.add(std::move(field));
  }
};

const Table& table() {
  static const Table table;
  return table;
}

template <typename T>
T address(Bytes octets) {
  T result;
  for (std::size_t i = 0; i < result.octets.size(); ++i) result.octets[i] = std::to_integer<std::uint8_t>(octets[i]);
  return result;
}

FilterValue octets_value(const FieldInfo& field, Bytes header) {
  const Bytes octets = field_octets(field, header);
  switch (field.format) {
    case FieldFormat::mac:
      return address<MacAddress>(octets);
    case FieldFormat::ipv4:
      return Gid::from_ipv4(address<Ipv4Address>(octets));
    case FieldFormat::gid:
      return address<Gid>(octets);
    default:
      return std::string_view{reinterpret_cast<const char*>(octets.data()), octets.size()};
  }
}

FilterValue field_value(const FieldInfo* field, Bytes header) {
  if (field == nullptr) return true;
  if (is_octets(*field)) return octets_value(*field, header);
  const std::uint64_t value = field_number(*field, header);
  switch (field->format) {
    case FieldFormat::boolean:
      return value != 0;
    case FieldFormat::signed_decimal: {
      const unsigned unused = 64U - field->bit_width;
      return static_cast<std::int64_t>(value << unused) >> unused;
    }
    default:
      return value;
  }
}

std::optional<FilterValue> header_value(const packet_text::DecodedPacket& decoded, const Origin& origin,
                                        std::size_t index) {
  // A packet has at most one of each transport header; looking that one up is much cheaper than walking all headers.
  if (detail::is_transport_header(origin.header)) {
    const std::optional<Layer> layer = index == 0 ? decoded.packet.find(origin.header) : std::nullopt;
    if (!layer) return std::nullopt;
    return field_value(origin.field, decoded.packet.layer_bytes(*layer));
  }
  std::optional<FilterValue> value;
  std::size_t count = 0;
  packet_text::visit_decoded(decoded, [&](const HeaderInfo& header, Bytes bytes, std::size_t) {
    if (header.id == origin.header && count++ == index) value = field_value(origin.field, bytes);
  });
  return value;
}

std::optional<FilterValue> text_value(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional<FilterValue>{text};
}

/// Returns an address: `index` 0 is the source, 1 the destination.
std::optional<FilterValue> address_value(const Packet& packet, std::size_t index) {
  if (index > 1 || (!packet.is_roce() && packet.network_header() == HeaderId::none)) return std::nullopt;
  const NetMeta net = packet.net();
  return index == 0 ? net.source : net.destination;
}

std::optional<FilterValue> icrc_value(const packet_text::DecodedPacket& decoded) {
  if (!decoded.packet.is_roce()) return std::nullopt;
  const bool good = decoded.icrc.status == IcrcStatus::good_for_ip_id;
  return code(good ? IcrcStatus::good : decoded.icrc.status);
}

std::optional<FilterValue> extra_value(const packet_text::DecodedPacket& decoded, Extra extra, std::size_t index) {
  if (extra == Extra::address) return address_value(decoded.packet, index);
  if (index != 0) return std::nullopt;
  const Packet& packet = decoded.packet;
  const packet_text::FrameInfo& frame = decoded.frame;
  const auto of_roce = [&](std::uint64_t value) {
    return packet.is_roce() ? std::optional<FilterValue>{value} : std::nullopt;
  };
  switch (extra) {
    case Extra::none:
    case Extra::address:
      break;
    case Extra::roce:
      return packet.is_roce() ? std::optional<FilterValue>{true} : std::nullopt;
    case Extra::version:
      return of_roce(code(packet.version()));
    case Extra::source:
      return address_value(packet, 0);
    case Extra::destination:
      return address_value(packet, 1);
    case Extra::icrc_status:
      return icrc_value(decoded);
    case Extra::payload_length:
      return of_roce(packet.payload_length());
    case Extra::problem:
      return packet.problem().reason != ParseReason::none;
    case Extra::number:
      return frame.number;
    case Extra::time:
      return frame.time_ns;
    case Extra::time_relative:
      return frame.time_ns ? std::optional<FilterValue>{frame.relative_ns} : std::nullopt;
    case Extra::length:
      return std::uint64_t{frame.length};
    case Extra::captured:
      return std::uint64_t{frame.captured};
    case Extra::segment:
      return frame.segment != 0 ? std::optional<FilterValue>{std::uint64_t{frame.segment}} : std::nullopt;
    case Extra::file:
      return text_value(frame.file);
    case Extra::interface_name:
      return text_value(frame.interface_name);
    case Extra::comment:
      return text_value(frame.comment);
  }
  return std::nullopt;
}

}  // namespace

FieldCatalogue wire_catalogue() {
  return table().catalogue;
}

std::optional<FilterValue> PacketValues::value(FieldId id, std::size_t index) const {
  const std::vector<Origin>& origins = table().origins;
  if (id >= origins.size()) return others_ != nullptr ? others_->value(id, index) : std::nullopt;
  const Origin& origin = origins[id];
  if (origin.extra != Extra::none) return extra_value(decoded_, origin.extra, index);
  return header_value(decoded_, origin, index);
}

}  // namespace roce::analyze
