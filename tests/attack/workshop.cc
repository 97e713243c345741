// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "shot.h"

namespace roce::attack {

std::vector<std::byte> Workshop::bytes(std::size_t length) {
  std::vector<std::byte> made(length);
  for (std::size_t at = 0; at < length; at += 8) {
    const std::uint64_t word = random_();
    std::memcpy(made.data() + at, &word, std::min<std::size_t>(8, length - at));
  }
  return made;
}

const Target* Workshop::find(Qpn qpn) const {
  const auto found = std::ranges::find(targets_, qpn, &Target::qpn);
  return found == targets_.end() ? nullptr : &*found;
}

std::uint64_t Workshop::place(const Target& target, std::uint32_t length) {
  const std::uint64_t room = (PeerMemory::kArea - length) / 8;
  return target.index * PeerMemory::kArea + below(room + 1) * 8;
}

Draft Workshop::frame(const Target& target, Opcode opcode) {
  Draft draft{route_, opcode, target.qpn, target.psn};
  draft.bth.ack_req = true;
  return draft;
}

Draft Workshop::write(const Target& target, Opcode opcode, std::uint32_t length) {
  Draft draft = frame(target, opcode);
  draft.reth = Reth{memory_.granted.address + place(target, length), memory_.granted.r_key, length};
  draft.payload = bytes(std::min(length, kPathMtu));
  return draft;
}

Draft Workshop::read(const Target& target, std::uint32_t length) {
  Draft draft = frame(target, Opcode::rc_read_request);
  draft.reth = Reth{memory_.granted.address + place(target, length), memory_.granted.r_key, length};
  return draft;
}

Draft Workshop::atomic(const Target& target, Opcode opcode) {
  Draft draft = frame(target, opcode);
  const std::uint64_t at = place(target, 8);
  std::uint64_t value = 0;
  std::memcpy(&value, memory_.shadow(at, 8).data(), 8);
  draft.atomic = AtomicEth{memory_.granted.address + at, memory_.granted.r_key, number(),
                           opcode == Opcode::rc_compare_swap ? value : 0};
  return draft;
}

Draft Workshop::flush(const Target& target) {
  Draft draft = frame(target, Opcode::rc_flush);
  draft.feth = Feth{.persistence = below(2) == 0, .visibility = true};
  draft.reth = Reth{memory_.granted.address + place(target, 64), memory_.granted.r_key, 64};
  return draft;
}

Draft Workshop::atomic_write(const Target& target) {
  Draft draft = frame(target, Opcode::rc_atomic_write);
  draft.reth = Reth{memory_.granted.address + place(target, 8), memory_.granted.r_key, 8};
  draft.payload = bytes(8);
  return draft;
}

Draft Workshop::send(const Target& target, Opcode opcode, std::uint32_t length) {
  Draft draft = frame(target, opcode);
  draft.payload = bytes(length);
  return draft;
}

void Workshop::note_change(Shot& shot, const Draft& draft, Shot::When when) {
  const Region& region = memory_.granted;
  if (draft.atomic) {
    const std::uint64_t at = draft.atomic->virtual_address - region.address;
    if (at > region.length - 8) return;
    std::uint64_t value = 0;
    std::memcpy(&value, memory_.shadow(at, 8).data(), 8);
    if (draft.bth.opcode == Opcode::rc_fetch_add) {
      value += draft.atomic->swap_or_add;
    } else if (value == draft.atomic->compare) {
      value = draft.atomic->swap_or_add;
    }
    std::vector<std::byte> changed(8);
    std::memcpy(changed.data(), &value, 8);
    shot.changes.push_back({at, std::move(changed), when});
    return;
  }
  const OpcodeInfo& info = opcode_info(draft.bth.opcode);
  const bool writes = info.operation == Operation::write || info.operation == Operation::atomic_write;
  if (!draft.reth || !writes || draft.payload.empty()) return;
  const std::uint64_t at = draft.reth->virtual_address - region.address;
  if (at > region.length || draft.payload.size() > region.length - at) return;
  shot.changes.push_back({at, draft.payload, when});
}

void Workshop::legal(Shot& shot, Draft draft) {
  note_change(shot, draft, Shot::When::always);
  shot.frames.push_back({draft.build(), false});
  shot.target->psn = draft.bth.psn + 1;
  ++shot.advance;
}

void Workshop::attack(Shot& shot, const Draft& draft) {
  note_change(shot, draft, Shot::When::if_executed);
  shot.frames.push_back({draft.build(), true});
  shot.attack_psn = draft.bth.psn;
  ++shot.attacks;
}

std::string Workshop::post_receive(const Target& target, std::uint32_t length) {
  return fmt::format(R"({{"op":"post_receive","qp":{},"memory":{},"offset":{},"length":{}}})", target.qpn.value(),
                     memory_.local.memory, target.index * PeerMemory::kSlot + PeerMemory::kBufferOffset, length);
}

}  // namespace roce::attack
