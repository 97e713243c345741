// SPDX-License-Identifier: BSD-2-Clause
#include "transport/held_requests.h"

#include <algorithm>
#include <bit>

namespace roce::transport::detail {

HeldRequests::HeldRequests(std::uint32_t packets, std::uint32_t packet_bytes)
    : packets_(packets),
      packet_bytes_(packet_bytes),
      slots_(packets == 0 ? 0 : std::bit_ceil(packets + 1)),
      bytes_(slots_.size() * packet_bytes) {}

void HeldRequests::keep(std::uint64_t position, std::uint64_t ahead, Bytes packet) {
  if (ahead > packets_ || packet.size() > packet_bytes_) return;
  Slot& slot = slots_[index(position)];
  if (slot.position == position) return;
  slot = {.position = position, .length = static_cast<std::uint32_t>(packet.size())};
  std::ranges::copy(packet, bytes_.begin() + static_cast<std::ptrdiff_t>(index(position) * packet_bytes_));
  newest_ = std::max(newest_, position);
}

Bytes HeldRequests::at(std::uint64_t position) const {
  if (!reaches(position)) return {};
  const Slot& slot = slots_[index(position)];
  if (slot.position != position) return {};
  return Bytes{bytes_}.subspan(index(position) * packet_bytes_, slot.length);
}

void HeldRequests::clear() {
  std::ranges::fill(slots_, Slot{});
  newest_ = 0;
}

}  // namespace roce::transport::detail
