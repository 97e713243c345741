// SPDX-License-Identifier: BSD-2-Clause
#include "transport/held_packets.h"

#include <algorithm>
#include <bit>

#include "roce/wire/constants.h"

namespace roce::transport::detail {

HeldPackets::HeldPackets(std::uint32_t packets, std::uint32_t packet_bytes)
    : packets_(packets),
      packet_bytes_(packet_bytes),
      slots_(packets == 0 ? 0 : std::bit_ceil(packets)),
      bytes_(new std::byte[slots_.size() * packet_bytes]) {}

bool HeldPackets::keep(std::uint64_t position, std::uint64_t ahead, const Packet& whole) {
  const Bytes packet = whole.bytes().subspan(whole.bth_offset(), whole.icrc_offset() + kIcrcSize - whole.bth_offset());
  if (ahead > packets_ || packet.size() > packet_bytes_) return false;
  Slot& slot = slots_[index(position)];
  if (slot.position == position) return false;
  slot = {.position = position, .length = static_cast<std::uint32_t>(packet.size())};
  std::ranges::copy(packet, bytes_.get() + index(position) * packet_bytes_);
  newest_ = std::max(newest_, position);
  return true;
}

Bytes HeldPackets::at(std::uint64_t position) const {
  if (!reaches(position)) return {};
  const Slot& slot = slots_[index(position)];
  if (slot.position != position) return {};
  return {bytes_.get() + index(position) * packet_bytes_, slot.length};
}

void HeldPackets::clear() {
  std::ranges::fill(slots_, Slot{});
  newest_ = 0;
}

}  // namespace roce::transport::detail
