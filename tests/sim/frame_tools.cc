// SPDX-License-Identifier: BSD-2-Clause
#include "sim/frame_tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "roce/wire/aeth.h"
#include "roce/wire/frame_builder.h"
#include "roce/wire/grh.h"
#include "roce/wire/ipv4.h"
#include "roce/wire/ipv6.h"
#include "roce/wire/packet.h"
#include "roce/wire/super_frame.h"
#include "roce/wire/udp.h"

namespace roce::sim {

namespace {

void put_lengths_right(Frame& frame, const LayerList& layers, std::uint16_t ip_id) {
  for (const Layer& layer : layers) {
    std::byte* header = frame.data() + layer.offset;
    const auto length = static_cast<std::uint16_t>(frame.size() - layer.offset);
    if (layer.id == HeaderId::ipv4) {
      FieldOf<&Ipv4::total_length>::set(header, length);
      FieldOf<&Ipv4::identification>::set(header, ip_id);
      FieldOf<&Ipv4::checksum>::set(header, ipv4_checksum({header, kSize<Ipv4>}));
    } else if (layer.id == HeaderId::ipv6) {
      FieldOf<&Ipv6::payload_length>::set(header, static_cast<std::uint16_t>(length - kSize<Ipv6>));
    } else if (layer.id == HeaderId::grh) {
      FieldOf<&Grh::payload_length>::set(header, static_cast<std::uint16_t>(length - kSize<Grh>));
    } else if (layer.id == HeaderId::udp) {
      FieldOf<&Udp::length>::set(header, length);
    }
  }
}

}  // namespace

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
  const std::uint32_t ip_id_step = found ? found->ip_id_step : 1;
  const std::optional<Ipv4> ip = whole.get<Ipv4>();
  const LayerList layers = whole.layers();
  std::vector<Frame> frames;
  for (std::uint32_t i = 0; i < segments; ++i) {
    const Bytes rest = unit.subspan(headers + std::size_t{i} * segment_size);
    const Bytes packet = rest.first(std::min<std::size_t>(rest.size(), segment_size));
    Frame& frame = frames.emplace_back(unit.begin(), unit.begin() + static_cast<std::ptrdiff_t>(headers));
    frame.insert(frame.end(), packet.begin(), packet.end());
    const std::uint32_t id = (ip ? ip->identification : 0U) + i * ip_id_step;
    put_lengths_right(frame, layers, static_cast<std::uint16_t>(id));
  }
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
