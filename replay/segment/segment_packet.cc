// SPDX-License-Identifier: BSD-2-Clause
#include "replay/segment/segment_packet.h"

#include <algorithm>

#include "roce/wire/frame_layers.h"
#include "roce/wire/frame_seal.h"

namespace roce::replay {

namespace {

constexpr std::size_t kIcrcBytes = 4;

[[nodiscard]] Position position_of(MessagePlace place) {
  if (place.begins) return place.ends ? Position::only : Position::first;
  return place.ends ? Position::last : Position::middle;
}

/// Returns the opcode of the same service and operation for another place; that of `like` if there is none.
[[nodiscard]] Opcode opcode_for(const Packet& like, const NewPacket& made) {
  const OpcodeInfo& old = like.info();
  const auto row = std::find_if(kOpcodeTable.begin(), kOpcodeTable.end(), [&](const OpcodeInfo& info) {
    return info.defined() && info.service == old.service && info.operation == old.operation &&
           info.position == position_of(made.place) && info.immediate == (made.place.ends && made.immediate) &&
           info.invalidate == (made.place.ends && made.invalidate);
  });
  return row == kOpcodeTable.end() ? like.opcode() : static_cast<Opcode>(row - kOpcodeTable.begin());
}

}  // namespace

void collect_headers(const Packet& packet, HeaderBytes& headers) {
  for (const HeaderId id : packet.info().headers()) {
    const std::optional<Layer> layer = packet.find(id);
    if (!layer) continue;
    const Bytes bytes = packet.layer_bytes(*layer);
    headers[id].assign(bytes.begin(), bytes.end());
  }
}

MessagePlace place_of(const OpcodeInfo& info) {
  return {.begins = info.position == Position::first || info.position == Position::only,
          .ends = info.position == Position::last || info.position == Position::only};
}

bool make_packet(const Packet& like, const NewPacket& made, const HeaderBytes& headers, Bytes payload,
                 LinkType link_type, std::vector<std::byte>& frame) {
  const FrameSeal seal{like};
  const Opcode opcode = opcode_for(like, made);
  // W-PAD-1 (pad to a multiple of 4)
  const std::size_t pad = (0 - payload.size()) & 3;
  std::vector<std::byte> transport(kSize<Bth>);
  Bth bth = like.bth();
  bth.opcode = opcode;
  bth.psn = made.psn;
  bth.solicited = made.solicited;
  bth.ack_req = made.ack_req;
  bth.pad_count = static_cast<std::uint8_t>(pad);
  write(bth, transport.data());
  for (const HeaderId id : opcode_info(opcode).headers()) {
    const auto found = headers.find(id);
    if (found == headers.end()) return false;
    transport.insert(transport.end(), found->second.begin(), found->second.end());
  }
  transport.insert(transport.end(), payload.begin(), payload.end());
  transport.resize(transport.size() + pad + kIcrcBytes);
  if (!change_transport(like, transport, frame)) return false;
  seal.renew(parse_frame(frame, link_type), frame, WrongCheck::keep, WrongCheck::keep);
  return true;
}

}  // namespace roce::replay
