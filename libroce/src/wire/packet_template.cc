// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/packet_template.h"

#include <algorithm>

#include "roce/wire/icrc.h"
#include "wire/packet_spec_layout.h"

namespace roce {

SpecResult<PacketTemplate> PacketTemplate::make(const PacketSpec& spec, std::span<const std::string> names) {
  SpecResult<std::vector<std::byte>> bytes = spec.build();
  if (!bytes) return tl::unexpected(bytes.error());
  PacketTemplate made;
  made.bytes_ = std::move(*bytes);
  const PacketSpec::Layout layout = spec.lay_out();
  made.end_ = layout.end;
  const auto start_of = [&](std::size_t part) {
    std::size_t start = 0;
    for (; spec.parts_[part].nested_in; part = *spec.parts_[part].nested_in) {
      start += spec.parts_[part].nested_offset;
      if (*spec.parts_[part].nested_in == PacketSpec::kInPayload) return start + layout.payload;
    }
    return start + layout.offsets[part];
  };
  for (const std::string& name : names) {
    const SpecResult<PacketSpec::Target> target = spec.find(name);
    if (!target) return tl::unexpected(target.error());
    const PacketSpec::Part& part = spec.parts_[target->part];
    if (target->field == nullptr) {
      return tl::unexpected(SpecError{name, name + ": only single fields can change in place"});
    }
    if (std::find(part.automatic.begin(), part.automatic.end(), target->field) != part.automatic.end()) {
      return tl::unexpected(SpecError{name, name + ": this field is computed; set it to a value first"});
    }
    made.places_.push_back({target->field, start_of(target->part), header_info(part.id).size});
  }
  for (std::size_t i = 0; i < spec.parts_.size(); ++i) {
    const PacketSpec::Part& part = spec.parts_[i];
    if (part.id != HeaderId::ipv4 || part.nested_in) continue;
    const bool computed = std::any_of(part.automatic.begin(), part.automatic.end(),
                                      [](const FieldInfo* field) { return field->name == "checksum"; });
    if (computed) made.checksums_.push_back(layout.offsets[i]);
  }
  const bool has_icrc = layout.end != layout.icrc && spec.icrc_mode_ != PacketSpec::IcrcMode::value;
  if (has_icrc) {
    const std::size_t start = layout.offsets[*layout.network];
    made.icrc_ = Icrc{spec.parts_[*layout.network].id, start, layout.offsets[*layout.bth] - start, layout.icrc,
                      spec.icrc_mode_ == PacketSpec::IcrcMode::wrong};
  }
  return made;
}

void PacketTemplate::set_number(std::size_t which, std::uint64_t number) {
  const Place& place = places_[which];
  if (!is_octets(*place.field)) {
    set_field_number(*place.field, std::span{bytes_}.subspan(place.header, place.size), number);
    return;
  }
  std::byte* end = bytes_.data() + place.header + (place.field->bit_offset + place.field->bit_width) / 8;
  for (std::size_t left = std::min<std::size_t>(place.field->bit_width / 8, sizeof number); left > 0; --left) {
    *--end = static_cast<std::byte>(number & 0xFF);
    number >>= 8;
  }
}

void PacketTemplate::set_octets(std::size_t which, Bytes octets) {
  const Place& place = places_[which];
  std::copy(octets.begin(), octets.end(),
            bytes_.begin() + static_cast<std::ptrdiff_t>(place.header + place.field->byte_offset()));
}

void PacketTemplate::seal() {
  if (icrc_) {
    const Bytes covered = Bytes{bytes_}.subspan(icrc_->start, icrc_->place - icrc_->start);
    const std::uint32_t icrc = compute_icrc(covered, icrc_->network, icrc_->bth_offset);
    store_big_endian<4>(bytes_.data() + icrc_->place, __builtin_bswap32(icrc_->is_wrong ? ~icrc : icrc));
  }
  // The ICRC covers no checksum, but a checksum may reach into the ICRC: see PacketSpec::build.
  for (const std::size_t offset : checksums_) {
    const std::uint16_t checksum = detail::checksum_of_ipv4_at(Bytes{bytes_}.first(end_), offset);
    FieldOf<&Ipv4::checksum>::set(bytes_.data() + offset, checksum);
  }
}

}  // namespace roce
