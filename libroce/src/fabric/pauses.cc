// SPDX-License-Identifier: BSD-2-Clause
#include "fabric/pauses.h"

#include <algorithm>

#include "roce/wire/ethernet.h"
#include "roce/wire/frame_builder.h"
#include "roce/wire/mac_control.h"

namespace roce::fabric::detail {

namespace {

constexpr std::uint16_t kLongest = 0xFFFF;
/// The other end of a link, whatever its address is (IEEE 802.3, annex 31B).
constexpr MacAddress kOtherEnd{{0x01, 0x80, 0xC2, 0x00, 0x00, 0x01}};

}  // namespace

void Pauses::receive(const Packet& packet, std::uint64_t rate_bps, Picoseconds now) {
  const std::optional<roce::Pfc> pfc = packet.get<roce::Pfc>();
  if (!pfc) return;
  for (std::uint32_t priority = 0; priority < kPriorities; ++priority) {
    if (!pfc->enabled(priority)) continue;
    until_[priority] = now + static_cast<Picoseconds>(pause_picoseconds(pfc->timer(priority), rate_bps));
  }
}

std::uint8_t Pauses::at(Picoseconds now) const {
  std::uint8_t mask = 0;
  for (std::uint32_t priority = 0; priority < kPriorities; ++priority) {
    if (until_[priority] > now) mask |= bit_of(priority);
  }
  return mask;
}

Picoseconds Pauses::next_end(Picoseconds now) const {
  Picoseconds next = -1;
  for (const Picoseconds until : until_) {
    if (until > now && (next < 0 || until < next)) next = until;
  }
  return next;
}

bool PauseRequests::update(std::uint8_t held, std::uint64_t rate_bps, Picoseconds now) {
  const bool is_due = renewal_ >= 0 && now >= renewal_;
  if (held == held_ && !is_due) return false;
  held_ = held;
  ever_held_ |= held;
  renewal_ = held == 0 ? -1 : now + static_cast<Picoseconds>(pause_picoseconds(kLongest, rate_bps) / 2);
  return true;
}

void PauseRequests::write(std::span<std::byte, kFrame> frame, const MacAddress& own) const {
  roce::Pfc pfc;
  for (std::uint32_t priority = 0; priority < kPriorities; ++priority) {
    if ((ever_held_ & bit_of(priority)) == 0) continue;
    pfc.set(priority, (held_ & bit_of(priority)) != 0 ? kLongest : std::uint16_t{0});
  }
  std::ranges::fill(frame, std::byte{0});
  FrameBuilder builder{frame};
  builder.add(Ethernet{kOtherEnd, own, EtherType::mac_control}).add(MacControl{MacControlOpcode::pfc}).add(pfc);
  (void)builder.finish();  // the room is that of the smallest frame, and the three headers take less
}

}  // namespace roce::fabric::detail
