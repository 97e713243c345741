// SPDX-License-Identifier: BSD-2-Clause
#include "frame_set.h"

#include <algorithm>

namespace roce::bench {

FrameSet::FrameSet(TrafficShape shape, std::size_t count) {
  Traffic traffic{shape};
  while (planned_.size() < count) planned_.push_back(traffic.next());
  encode_all();
}

FrameSet::FrameSet(std::uint32_t payload_bytes) {
  constexpr std::size_t memory = std::size_t{256} * 1024;
  const std::size_t count = std::min<std::size_t>(256, memory / (payload_bytes + 64));
  Traffic traffic{{.mtu = payload_bytes, .single_packets = true}};
  while (planned_.size() < count) {
    const PlannedPacket packet = traffic.next();
    if (packet.bth.opcode == Opcode::rc_send_only) planned_.push_back(packet);
  }
  encode_all();
}

void FrameSet::encode_all() {
  std::vector<std::byte> frame(kMaxFrame);
  std::vector<std::size_t> ends;
  for (const PlannedPacket& packet : planned_) {
    const std::size_t length = encode(packet, frame);
    storage_.insert(storage_.end(), frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(length));
    ends.push_back(storage_.size());
  }
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    frames_.emplace_back(storage_.data() + begin, end - begin);
    begin = end;
  }
}

}  // namespace roce::bench
