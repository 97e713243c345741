// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "roce/analysis/observation.h"
#include "roce/wire/super_frame.h"

namespace roce::analyze {

/// One packet of a frame, with the observation that the analysis keeps of it.
struct DecodedPart {
  const Packet& packet;
  const IcrcVerdict& icrc;
  std::uint32_t segment = 0;   ///< index in a super-frame, from 0
  std::uint32_t segments = 0;  ///< packets of the super-frame; 0: the frame is one packet
  std::uint32_t base = 0;      ///< offset of the bytes of `packet` in the frame
  analysis::Observation observation;
};

/// True if the analysis uses the frame: RoCE, PFC and PAUSE.
[[nodiscard]] inline bool is_judged(const Packet& whole) {
  return whole.is_roce() || whole.kind() == PacketKind::pfc || whole.kind() == PacketKind::pause;
}

/// Calls `use(const DecodedPart&)` for each packet of a frame that `is_judged`, seen at the capture point `point`. The
/// result depends on the arguments alone, so frames may be decoded in any order and by any thread.
template <typename Use>
void decode_step(const Packet& whole, Time time, std::uint64_t frame, std::uint16_t point, Use use) {
  const auto observe = [&](const Packet& packet, const IcrcVerdict& verdict, std::uint32_t segment) {
    analysis::Observation seen = analysis::observe_packet(packet, verdict, time, {frame, segment});
    seen.point = point;
    return seen;
  };
  const IcrcVerdict icrc = check_icrc(whole);
  std::optional<SuperFrame> super_frame;
  if (icrc.status != IcrcStatus::good && whole.is_roce()) super_frame = find_super_frame(whole);
  if (!super_frame) {
    use(DecodedPart{whole, icrc, 0, 0, 0, observe(whole, icrc, 0)});
    return;
  }
  const std::uint32_t captured = captured_count(whole, *super_frame);
  // The packets of a super-frame share the headers of the link, of VLANs and of tunnels, which they do not have.
  const analysis::Observation outside = observe(whole, icrc, 0);
  for (std::uint32_t i = 0; i < super_frame->count; ++i) {
    const Packet part = segment(whole, *super_frame, i);
    const IcrcVerdict verdict = check_icrc(part);
    analysis::Observation seen = observe(part, verdict, i);
    seen.domain = outside.domain;
    seen.source_mac = outside.source_mac;
    seen.destination_mac = outside.destination_mac;
    seen.link_priority = outside.link_priority;
    seen.is_several = i + 1 == captured && captured < super_frame->count;
    use(DecodedPart{part, verdict, i, super_frame->count, whole.bth_offset() + i * super_frame->segment_size, seen});
  }
}

}  // namespace roce::analyze
