// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/packet_template.h"

#include <algorithm>

#include "roce/wire/icrc.h"
#include "wire/crc.h"
#include "wire/icrc_mask.h"
#include "wire/packet_spec_layout.h"

namespace roce {

namespace {

// The most covered bytes with tables: each costs a lookup in its own, and with more of them a CRC costs less.
constexpr std::size_t kMostCovered = 32;
constexpr unsigned kBitsPerByte = 8;

}  // namespace

PacketTemplate::Place PacketTemplate::place_of(const FieldInfo& field, std::size_t header, std::size_t size) {
  const std::size_t end = std::size_t{field.bit_offset} + field.bit_width;
  const bool is_whole_bytes = field.bit_offset % kBitsPerByte == 0 && end % kBitsPerByte == 0;
  const std::size_t octets = std::min<std::size_t>(field.bit_width / kBitsPerByte, sizeof(std::uint64_t));
  return {&field, header, size, header + end / kBitsPerByte, is_whole_bytes ? octets : 0};
}

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
    made.places_.push_back(place_of(*target->field, start_of(target->part), header_info(part.id).size));
  }
  for (std::size_t i = 0; i < spec.parts_.size(); ++i) {
    const PacketSpec::Part& part = spec.parts_[i];
    if (part.id != HeaderId::ipv4 || part.nested_in) continue;
    const bool computed = std::any_of(part.automatic.begin(), part.automatic.end(),
                                      [](const FieldInfo* field) { return field->name == "checksum"; });
    if (computed && made.may_change(layout.offsets[i])) made.checksums_.push_back(layout.offsets[i]);
  }
  const bool has_icrc = layout.end != layout.icrc && spec.icrc_mode_ != PacketSpec::IcrcMode::value;
  if (has_icrc) {
    const std::size_t start = layout.offsets[*layout.network];
    made.icrc_ = Icrc{spec.parts_[*layout.network].id, start, layout.offsets[*layout.bth] - start, layout.icrc,
                      spec.icrc_mode_ == PacketSpec::IcrcMode::wrong};
  }
  return made;
}

/// True if the checksum of the IPv4 header at `offset` may change, because a field of the header may. A header that
/// claims to be longer covers bytes behind it, too.
bool PacketTemplate::may_change(std::size_t offset) const {
  const std::size_t size = detail::ipv4_header_at(Bytes{bytes_}.first(end_), offset).size();
  if (size != kSize<Ipv4>) return true;
  return std::any_of(places_.begin(), places_.end(), [&](const Place& place) {
    return place.first_byte() < offset + size && place.last_byte() >= offset;
  });
}

std::vector<PacketTemplate::Covered> PacketTemplate::find_covered() const {
  std::vector<std::uint8_t> masks(icrc_->place - icrc_->start);
  for (const Place& place : places_) {
    for (std::size_t at = std::max(place.first_byte(), icrc_->start); at <= place.last_byte() && at < icrc_->place;
         ++at) {
      masks[at - icrc_->start] = 0xFF;
    }
  }
  for_each_masked_byte(icrc_->network, icrc_->bth_offset, [&](std::size_t position, std::uint8_t mask, IcrcMistake) {
    masks[position] &= static_cast<std::uint8_t>(~mask);
  });
  std::vector<Covered> covered;
  for (std::size_t i = 0; i < masks.size(); ++i) {
    if (masks[i] != 0) covered.push_back({icrc_->start + i, masks[i], bytes_[icrc_->start + i]});
  }
  return covered;
}

void PacketTemplate::expect_many() {
  if (!icrc_ || changes_ != nullptr) return;
  // A checksum that the ICRC covers changes without being set; only that of the network header is masked.
  const bool has_checksum_inside = std::any_of(checksums_.begin(), checksums_.end(), [&](std::size_t offset) {
    return offset > icrc_->start && offset < icrc_->place;
  });
  if (has_checksum_inside) return;
  seal();
  std::vector<Covered> found = find_covered();
  if (found.size() > kMostCovered) return;
  covered_ = std::move(found);
  std::array<std::uint32_t, kBitsPerByte> of_bit{};
  for (unsigned bit = 0; bit < kBitsPerByte; ++bit) of_bit[bit] = std::uint32_t{1} << bit;
  std::vector<Changes> changes(covered_.size());
  std::size_t behind = icrc_->place;
  for (std::size_t i = covered_.size(); i > 0; --i) {
    const Covered& covered = covered_[i - 1];
    for (std::uint32_t& difference : of_bit) difference = crc::advance(difference, behind - covered.place);
    changes[i - 1] =
        crc::make_linear_table(of_bit, [mask = covered.mask](unsigned difference) { return difference & mask; });
    behind = covered.place;
  }
  changes_ = std::make_shared<const std::vector<Changes>>(std::move(changes));
}

std::vector<std::size_t> PacketTemplate::varying() const {
  std::vector<std::size_t> offsets;
  const auto add = [&](std::size_t first, std::size_t last) {
    for (std::size_t at = first; at <= last; ++at) offsets.push_back(at);
  };
  for (const Place& place : places_) add(place.first_byte(), place.last_byte());
  using Checksum = FieldOf<&Ipv4::checksum>;
  for (const std::size_t offset : checksums_) add(offset + Checksum::kFirstByte, offset + Checksum::kEndByte - 1);
  if (icrc_) add(icrc_->place, icrc_->place + sizeof(std::uint32_t) - 1);
  std::ranges::sort(offsets);
  const auto repeated = std::ranges::unique(offsets);
  offsets.erase(repeated.begin(), repeated.end());
  return offsets;
}

std::uint32_t PacketTemplate::stored_icrc() const {
  return __builtin_bswap32(static_cast<std::uint32_t>(load_big_endian<4>(bytes_.data() + icrc_->place)));
}

void PacketTemplate::store_icrc(std::uint32_t icrc) {
  store_big_endian<4>(bytes_.data() + icrc_->place, __builtin_bswap32(icrc));
}

void PacketTemplate::set_number(std::size_t which, std::uint64_t number) {
  const Place& place = places_[which];
  if (place.octets == 0) {
    set_field_number(*place.field, std::span{bytes_}.subspan(place.header, place.size), number);
    return;
  }
  std::byte* end = bytes_.data() + place.end;
  for (std::size_t left = place.octets; left > 0; --left) {
    *--end = static_cast<std::byte>(number & 0xFF);
    number >>= 8;
  }
}

void PacketTemplate::set_octets(std::size_t which, Bytes octets) {
  const Place& place = places_[which];
  std::copy(octets.begin(), octets.end(),
            bytes_.begin() + static_cast<std::ptrdiff_t>(place.header + place.field->byte_offset()));
}

void PacketTemplate::store_checksums() {
  for (const std::size_t offset : checksums_) {
    const std::uint16_t checksum = detail::checksum_of_ipv4_at(Bytes{bytes_}.first(end_), offset);
    FieldOf<&Ipv4::checksum>::set(bytes_.data() + offset, checksum);
  }
}

void PacketTemplate::seal() {
  if (icrc_ && changes_ != nullptr) {
    std::uint32_t icrc = stored_icrc();
    for (std::size_t i = 0; i < covered_.size(); ++i) {
      Covered& covered = covered_[i];
      const std::byte byte = bytes_[covered.place];
      icrc ^= (*changes_)[i][std::to_integer<std::size_t>(byte ^ covered.sealed)];
      covered.sealed = byte;
    }
    store_icrc(icrc);
  } else if (icrc_) {
    // The ICRC covers the checksum of a header behind the BTH, so that is stored first.
    store_checksums();
    const Bytes bytes = Bytes{bytes_}.subspan(icrc_->start, icrc_->place - icrc_->start);
    const std::uint32_t icrc = compute_icrc(bytes, icrc_->network, icrc_->bth_offset);
    store_icrc(icrc_->is_wrong ? ~icrc : icrc);
  }
  // The ICRC does not cover any other checksum, but a checksum may cover the ICRC: see PacketSpec::build.
  store_checksums();
}

}  // namespace roce
