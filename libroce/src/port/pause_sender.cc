// SPDX-License-Identifier: BSD-2-Clause
#include "roce/port/pause_sender.h"

#include "roce/wire/ethernet.h"
#include "roce/wire/frame_builder.h"
#include "roce/wire/mac_control.h"

namespace roce::port {

namespace {

constexpr std::uint16_t kLongestPause = 0xFFFF;

}  // namespace

PauseSender::PauseSender(const MacAddress& mac, std::uint64_t bits_per_second)
    : mac_(mac), refresh_(static_cast<Duration::rep>(pause_picoseconds(kLongestPause, bits_per_second) / 1000 / 2)) {}

bool PauseSender::update(std::uint8_t held, Time now) {
  if (held == held_ && now < refresh_at_) return false;
  ever_held_ |= held;
  // Each frame has the state of all priorities, so that it does not matter if one before it was lost.
  Pfc pfc;
  for (unsigned priority = 0; priority < 8; ++priority) {
    const unsigned bit = 1U << priority;
    if ((ever_held_ & bit) != 0) pfc.set(priority, (held & bit) != 0 ? kLongestPause : std::uint16_t{0});
  }
  held_ = held;
  refresh_at_ = held != 0 ? now + refresh_ : kNever;
  frame_.fill(std::byte{0});
  FrameBuilder builder{frame_};
  builder.add(Ethernet{kOtherEnd, mac_, EtherType::mac_control}).add(MacControl{MacControlOpcode::pfc}).add(pfc);
  return builder.finish().has_value();
}

}  // namespace roce::port
