// SPDX-License-Identifier: BSD-2-Clause
#include "impair/actions.h"

#include <algorithm>
#include <array>

#include "roce/wire/frame_seal.h"
#include "roce/wire/ipv4.h"
#include "roce/wire/ipv6.h"

namespace roce::impair {

namespace {

/// Byte 4 of the BTH, which the ICRC does not cover.
constexpr std::uint32_t kUncoveredByte = 4;
/// Bytes before it (opcode, flags, pad count) stay: with other values the packet might not parse.
constexpr std::uint32_t kFirstRandomByte = 2;

/// Returns the innermost header that has an ECN field.
std::optional<Layer> find_network(const Packet& packet) {
  std::optional<Layer> innermost;
  for (const HeaderId id : {HeaderId::ipv4, HeaderId::ipv6, HeaderId::grh}) {
    const std::optional<Layer> layer = packet.find(id);
    if (layer && (!innermost || layer->offset > innermost->offset)) innermost = layer;
  }
  return innermost;
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
  const FrameSeal seal{packet, frame};
  // This cannot fail: the value was tried on the same field when the rules were read.
  const auto set = [&] {
    static_cast<void>(set_field_text(*target.field, frame.subspan(layer->offset, layer->size), edit.value));
  };
  set();
  seal.renew(packet, frame, WrongCheck::leave, WrongCheck::leave);
  // Sealing has replaced a checksum that was set by the right one.
  if (target.field->name == "checksum") set();
}

void apply_mark_ce(const Packet& packet, std::span<std::byte> frame) {
  const std::optional<Layer> layer = find_network(packet);
  if (!layer) return;
  constexpr std::uint8_t congestion_experienced = 3;
  std::byte* header = frame.data() + layer->offset;
  if (layer->id == HeaderId::ipv4) {
    const FrameSeal seal{packet, frame};
    FieldOf<&Ipv4::ecn>::set(header, congestion_experienced);
    seal.renew(packet, frame, WrongCheck::leave, WrongCheck::leave);
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
