// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "roce/wire/ipv6.h"
#include "roce/wire/packet.h"
#include "roce/wire/udp.h"

namespace roce::test {

using Frame = std::vector<std::byte>;

/// Returns a super-frame as a capture shows it before segmentation: the headers of the first packet with the lengths of
/// all, and each packet from BTH to ICRC as segmentation will leave it. The frames are RoCE v2 over Ethernet.
inline Frame coalesce(const std::vector<Frame>& frames) {
  const Packet first = parse_frame(frames.front(), LinkType::ethernet);
  Frame all(frames.front().begin(), frames.front().begin() + first.bth_offset());
  for (const Frame& frame : frames) all.insert(all.end(), frame.begin() + first.bth_offset(), frame.end());
  for (const Layer& layer : first.layers()) {
    std::byte* header = all.data() + layer.offset;
    const auto length = static_cast<std::uint16_t>(all.size() - layer.offset);
    if (layer.id == HeaderId::ipv4) FieldOf<&Ipv4::total_length>::set(header, length);
    if (layer.id == HeaderId::ipv6)
      FieldOf<&Ipv6::payload_length>::set(header, static_cast<std::uint16_t>(length - 40));
    if (layer.id == HeaderId::udp) FieldOf<&Udp::length>::set(header, length);
  }
  return all;
}

}  // namespace roce::test
