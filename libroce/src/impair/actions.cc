// SPDX-License-Identifier: BSD-2-Clause
#include "impair/actions.h"

#include <algorithm>
#include <array>

#include "roce/wire/frame_builder.h"
#include "roce/wire/icrc.h"
#include "roce/wire/ipv4.h"
#include "roce/wire/ipv6.h"
#include "roce/wire/udp.h"

namespace roce::impair {

namespace {

/// Byte 4 of the BTH, which the ICRC does not cover.
constexpr std::uint32_t kUncoveredByte = 4;
/// Opcode, flags and pad count: with other values the packet might not parse.
constexpr std::uint32_t kFirstRandomByte = 2;

/// The innermost header that has an ECN field.
std::optional<Layer> find_network(const Packet& packet) {
  std::optional<Layer> innermost;
  for (const HeaderId id : {HeaderId::ipv4, HeaderId::ipv6, HeaderId::grh}) {
    const std::optional<Layer> layer = packet.find(id);
    if (layer && (!innermost || layer->offset > innermost->offset)) innermost = layer;
  }
  return innermost;
}

bool has_checkable_icrc(const Packet& packet) {
  return packet.is_roce() && packet.has_icrc() && packet.network_header() != HeaderId::none;
}

std::uint32_t icrc_of(const Packet& packet, Bytes frame) {
  const std::uint32_t start = packet.network_offset();
  return compute_icrc(frame.subspan(start, packet.icrc_offset() - start), packet.network_header(),
                      packet.bth_offset() - start);
}

/// The IPv4 headers of a frame and how long they are with their options, which were in the frame when it was parsed.
struct Ipv4Place {
  std::uint32_t offset = 0;
  std::size_t size = 0;
  bool was_right = false;
};

struct Ipv4Places {
  std::array<Ipv4Place, LayerList::kCapacity> places{};
  std::size_t count = 0;
};

Ipv4Places find_ipv4(const Packet& packet, Bytes frame) {
  Ipv4Places found;
  for (const Layer& layer : packet.layers()) {
    if (layer.id != HeaderId::ipv4) continue;
    const std::byte* header = frame.data() + layer.offset;
    const std::size_t size = FieldOf<&Ipv4::header_length>::get(header) * std::size_t{4};
    if (size < kSize<Ipv4> || size > frame.size() - layer.offset) continue;
    const bool is_right = ipv4_checksum({header, size}) == FieldOf<&Ipv4::checksum>::get(header);
    found.places[found.count++] = {layer.offset, size, is_right};
  }
  return found;
}

void repair_ipv4(const Ipv4Places& places, std::span<std::byte> frame) {
  for (std::size_t i = 0; i < places.count; ++i) {
    const Ipv4Place& place = places.places[i];
    if (!place.was_right) continue;
    std::byte* header = frame.data() + place.offset;
    FieldOf<&Ipv4::checksum>::set(header, ipv4_checksum(Bytes{header, place.size}));
  }
}

std::uint64_t half_word_sum(Bytes bytes) {
  std::uint64_t sum = 0;
  std::size_t i = 0;
  for (; i + 2 <= bytes.size(); i += 2) sum += load_big_endian<2>(bytes.data() + i);
  if (i < bytes.size()) sum += std::to_integer<std::uint64_t>(bytes[i]) << 8U;
  return sum;
}

/// The UDP header in front of the BTH with everything behind it, if it has a checksum (RFC 768, RFC 8200 section 8.1).
struct UdpPlace {
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
};

std::optional<UdpPlace> find_udp_checksum(const Packet& packet, Bytes frame) {
  if (!packet.is_roce() || packet.version() == RoceVersion::v1 || packet.network_header() == HeaderId::none) {
    return std::nullopt;
  }
  const std::optional<Layer> udp = packet.find(HeaderId::udp);
  if (!udp || FieldOf<&Udp::checksum>::get(frame.data() + udp->offset) == 0) return std::nullopt;
  const std::uint32_t size = FieldOf<&Udp::length>::get(frame.data() + udp->offset);
  if (size < kSize<Udp> || size > frame.size() - udp->offset) return std::nullopt;
  return UdpPlace{udp->offset, size};
}

std::uint16_t udp_checksum(const UdpPlace& place, const Packet& packet, Bytes frame) {
  const bool is_ipv4 = packet.network_header() == HeaderId::ipv4;
  const std::size_t addresses = packet.network_offset() + (is_ipv4 ? 12U : 8U);
  std::uint64_t sum = half_word_sum(frame.subspan(addresses, is_ipv4 ? 8 : 32));
  sum += static_cast<std::uint64_t>(IpProtocol::udp) + place.size;
  sum += half_word_sum(frame.subspan(place.offset, place.size));
  sum -= FieldOf<&Udp::checksum>::get(frame.data() + place.offset);
  const std::uint16_t checksum = detail::fold_checksum(sum);
  // 0 says that there is no checksum.
  return checksum == 0 ? std::uint16_t{0xFFFF} : checksum;
}

void flip(std::span<std::byte> frame, std::size_t byte, std::uint32_t bit) {
  frame[byte] ^= static_cast<std::byte>(0x80U >> bit);
}

}  // namespace

EditTarget find_edit_target(std::string_view name) {
  const std::size_t dot = name.find('.');
  EditTarget target;
  target.header = find_header(name.substr(0, dot));
  if (target.header != nullptr && dot != std::string_view::npos) {
    target.field = find_field(*target.header, name.substr(dot + 1));
  }
  return target;
}

bool is_possible(const Action& action, const EditTarget& target, const Packet& packet) {
  if (std::holds_alternative<Edit>(action)) return packet.find(target.header->id).has_value();
  if (std::holds_alternative<MarkCe>(action)) return find_network(packet).has_value();
  if (const auto* corrupt = std::get_if<Corrupt>(&action)) {
    if (!packet.is_roce() || !packet.has_icrc()) return false;
    return !corrupt->bit || *corrupt->bit / 8 < packet.icrc_offset() - packet.bth_offset();
  }
  return true;
}

void apply_edit(const Edit& edit, const EditTarget& target, const Packet& packet, std::span<std::byte> frame) {
  const std::optional<Layer> layer = packet.find(target.header->id);
  if (!layer) return;
  const Ipv4Places ipv4 = find_ipv4(packet, frame);
  const std::optional<UdpPlace> udp = find_udp_checksum(packet, frame);
  const bool udp_was_right =
      udp && udp_checksum(*udp, packet, frame) == FieldOf<&Udp::checksum>::get(frame.data() + udp->offset);
  const bool icrc_was_right = has_checkable_icrc(packet) && icrc_of(packet, frame) == packet.stored_icrc();

  // The value was tried on the same field when the rules were read.
  static_cast<void>(set_field_text(*target.field, frame.subspan(layer->offset, layer->size), edit.value));

  const bool is_checksum = target.field->name == "checksum";
  if (!is_checksum || target.header->id != HeaderId::ipv4) repair_ipv4(ipv4, frame);
  if (icrc_was_right) {
    store_big_endian<4>(frame.data() + packet.icrc_offset(), __builtin_bswap32(icrc_of(packet, frame)));
  }
  if (udp_was_right && (!is_checksum || target.header->id != HeaderId::udp)) {
    FieldOf<&Udp::checksum>::set(frame.data() + udp->offset, udp_checksum(*udp, packet, frame));
  }
}

void apply_mark_ce(const Packet& packet, std::span<std::byte> frame) {
  const std::optional<Layer> layer = find_network(packet);
  if (!layer) return;
  constexpr std::uint8_t congestion_experienced = 3;
  std::byte* header = frame.data() + layer->offset;
  if (layer->id == HeaderId::ipv4) {
    const Ipv4Places ipv4 = find_ipv4(packet, frame);
    FieldOf<&Ipv4::ecn>::set(header, congestion_experienced);
    repair_ipv4(ipv4, frame);
  } else {
    // A GRH has the shape of an IPv6 header (IBTA vol. 1, 8.3).
    FieldOf<&Ipv6::ecn>::set(header, congestion_experienced);
  }
}

void apply_corrupt(const Corrupt& corrupt, const Packet& packet, std::span<std::byte> frame, Random& random) {
  const std::uint32_t bth = packet.bth_offset();
  if (corrupt.bit) {
    flip(frame, bth + *corrupt.bit / 8, *corrupt.bit % 8);
    return;
  }
  const std::uint32_t bytes = packet.icrc_offset() - bth - kFirstRandomByte - 1;
  std::array<std::uint32_t, 64> chosen{};
  for (std::uint32_t i = 0; i < std::min<std::uint32_t>(corrupt.bits, chosen.size());) {
    const std::uint32_t bit = random.below(bytes * 8);
    if (std::find(chosen.begin(), chosen.begin() + i, bit) != chosen.begin() + i) continue;
    chosen[i++] = bit;
    const std::uint32_t byte = kFirstRandomByte + bit / 8;
    flip(frame, bth + byte + (byte >= kUncoveredByte ? 1U : 0U), bit % 8);
  }
}

}  // namespace roce::impair
