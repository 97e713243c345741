// SPDX-License-Identifier: GPL-2.0-or-later
#include "wireshark/epan/tap.h"

#include <new>
#include <type_traits>

#include "wireshark/epan/dissector.h"

namespace roce::plugin {

namespace {

/// A packet in the queue until its frame has been dissected. The facts about it are looked up only then: they may have
/// moved, because the frame has further packets.
struct TapRecord {
  analysis::Observation observation;
  std::uint32_t offset = 0;
  IcrcStatus icrc{};
  bool has_hindsight = false;
};
static_assert(std::is_trivially_destructible_v<TapRecord>, "nobody ends the life of what lies in pinfo->pool");

int tap = 0;

}  // namespace

void register_taps() {
  tap = register_tap(kTap);
}

void queue_for_taps(packet_info* pinfo, const Packet& packet, const IcrcVerdict& icrc, std::uint32_t offset,
                    Time time) {
  if (!have_tap_listener(tap)) return;
  void* const place = wmem_alloc(pinfo->pool, sizeof(TapRecord));
  const bool has_hindsight = pinfo->fd->visited != 0;
  tap_queue_packet(tap, pinfo,
                   new (place) TapRecord{analysis::observe_packet(packet, icrc, time, {pinfo->num, 0}), offset,
                                         icrc.status, has_hindsight});
}

TappedPacket tapped(const void* data) {
  const auto& record = *static_cast<const TapRecord*>(data);
  const PacketFacts* const facts = open_capture().find(record.observation.id.frame, record.offset);
  return {record.observation, record.icrc, open_capture().analysis(), facts, record.has_hindsight};
}

}  // namespace roce::plugin
