// SPDX-License-Identifier: BSD-2-Clause
#include "sim/frame_tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "roce/wire/aeth.h"
#include "roce/wire/checksum.h"
#include "roce/wire/grh.h"
#include "roce/wire/ipv4.h"
#include "roce/wire/ipv6.h"
#include "roce/wire/packet.h"
#include "roce/wire/super_frame.h"

namespace roce::sim {

std::vector<Frame> cut(Bytes unit, std::uint32_t segments, std::uint32_t segment_size) {
  if (segments <= 1) return {Frame(unit.begin(), unit.end())};
  const Packet whole = parse_frame(unit, LinkType::ethernet);
  if (!whole.is_roce() || segment_size == 0) throw std::logic_error("a unit of several packets that is not RoCE");
  const std::size_t headers = whole.bth_offset();
  if (unit.size() <= headers + std::size_t{segments - 1} * segment_size ||
      unit.size() > headers + std::size_t{segments} * segment_size) {
    throw std::logic_error(fmt::format("a unit of {} bytes is not {} packets of {} behind {} bytes of headers",
                                       unit.size(), segments, segment_size, headers));
  }
  const std::optional<SuperFrame> found = find_super_frame(whole);
  if (found && (found->segment_size != segment_size || found->count != segments)) {
    throw std::logic_error(fmt::format("a unit of {} packets of {} bytes reads as {} of {}", segments, segment_size,
                                       found->count, found->segment_size));
  }
  const SuperFrame super_frame{segment_size, segments, std::uint16_t{1}};
  std::vector<Frame> frames(segments);
  for (std::uint32_t i = 0; i < segments; ++i) cut_frame(whole, super_frame, i, frames[i]);
  return frames;
}

bool mark_congestion(Frame& frame) {
  constexpr std::uint8_t congestion_experienced = 3;
  const Packet packet = parse_frame(frame, LinkType::ethernet);
  const auto mark = [&]<auto Member>() {
    std::byte* header = frame.data() + packet.network_offset();
    if (FieldOf<Member>::get(header) == 0) return false;
    FieldOf<Member>::set(header, congestion_experienced);
    return true;
  };
  switch (packet.network_header()) {
    case HeaderId::ipv4: {
      if (!mark.template operator()<&Ipv4::ecn>()) return false;
      std::byte* header = frame.data() + packet.network_offset();
      FieldOf<&Ipv4::checksum>::set(header, ipv4_checksum({header, kSize<Ipv4>}));
      return true;
    }
    case HeaderId::ipv6:
      return mark.template operator()<&Ipv6::ecn>();
    case HeaderId::grh:
      return mark.template operator()<&Grh::ecn>();
    default:
      return false;
  }
}

std::string describe(Bytes frame) {
  const Packet packet = parse_frame(frame, LinkType::ethernet);
  if (!packet.is_roce()) return fmt::format("not RoCE, {} bytes", frame.size());
  const Bth bth = packet.bth();
  const std::string_view name = packet.info().name;
  std::string text = fmt::format("{} qp 0x{:06x} psn 0x{:06x} A={} len {}", name.empty() ? "unknown opcode" : name,
                                 bth.dest_qp.value(), bth.psn.value(), bth.ack_req ? 1 : 0, packet.payload_length());
  if (const std::optional<Aeth> aeth = packet.get<Aeth>()) {
    text += fmt::format(" {} msn {}", to_string(aeth->syndrome), aeth->msn.value());
  }
  return text;
}

}  // namespace roce::sim
