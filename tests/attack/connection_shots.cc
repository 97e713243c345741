// SPDX-License-Identifier: BSD-2-Clause
// Requests that an RC queue pair may not execute: wrong opcodes, lengths, keys and places.
#include <array>

#include "shot.h"

namespace roce::attack {

namespace {

constexpr std::uint32_t kMtu = Workshop::kPathMtu;
constexpr Aim kInvalid{.nak = NakCode::invalid_request};
constexpr Aim kAccess{.nak = NakCode::remote_access_error, .counters = {"responder_access_errors"}};
constexpr Aim kGap{.counters = {"out_of_sequence"}};
constexpr Aim kDuplicate{.counters = {"duplicate_requests"}};
constexpr Aim kNoBuffer{.counters = {"out_of_buffer"}};

/// Returns a random place of `length` bytes inside a region, with the key of that region.
[[nodiscard]] Reth elsewhere(Workshop& shop, const Region& region, std::uint32_t length) {
  return {region.address + shop.below((region.length - length) / 8) * 8, region.r_key, length};
}

/// Returns an address at which `length` bytes are not, or not wholly, in the granted region.
[[nodiscard]] std::uint64_t outside(Workshop& shop, std::uint32_t length) {
  const Region& granted = shop.memory().granted;
  const Region& above = shop.memory().above;
  const Region& below = shop.memory().below;
  const std::uint64_t end = granted.address + granted.length;
  switch (shop.below(8)) {
    case 0:
      return granted.address - 1;
    case 1:
      return end - length + 1;
    case 2:
      return end;
    case 3:
      return granted.address - length;
    case 4:
      return above.address + shop.below(above.length - length);
    case 5:
      return below.address + shop.below(below.length - length);
    case 6:
      return shop.number();
    default:
      return 0 - shop.below(length);
  }
}

void psn_ahead(Workshop& shop, Target& target, Shot& shot) {
  for (unsigned i = 0; i < 6; ++i) {
    Draft draft = shop.write(target, Opcode::rc_write_only, 64);
    draft.bth.psn = target.psn + static_cast<std::uint32_t>(1 + shop.below(i == 0 ? 1 : 1 << 20));
    shop.attack(shot, draft);
  }
}
void psn_half(Workshop& shop, Target& target, Shot& shot) {
  Draft draft = shop.write(target, Opcode::rc_write_only, 64);
  draft.bth.psn = target.psn + ((1U << 23) - 1);
  shop.attack(shot, draft);
}
void psn_behind(Workshop& shop, Target& target, Shot& shot) {
  for (unsigned i = 0; i < 6; ++i) {
    Draft draft = shop.write(target, Opcode::rc_write_only, 64);
    draft.bth.psn = target.psn - static_cast<std::uint32_t>(1 + shop.below(i == 0 ? 1 : 1 << 23));
    shop.attack(shot, draft);
  }
}
void atomic_behind(Workshop& shop, Target& target, Shot& shot) {
  for (unsigned i = 0; i < 4; ++i) {
    Draft draft = i % 2 == 0 ? shop.atomic(target, Opcode::rc_fetch_add) : shop.atomic_write(target);
    draft.bth.psn = target.psn - static_cast<std::uint32_t>(1 + shop.below(1 << 23));
    shop.attack(shot, draft);
  }
}
void read_behind(Workshop& shop, Target& target, Shot& shot) {
  shop.legal(shot, shop.read(target, 64));
  for (unsigned i = 0; i < 4; ++i) {
    Draft draft = shop.read(target, 64);
    draft.bth.psn = target.psn - 1;
    switch (i) {
      case 0:
        draft.reth->virtual_address = outside(shop, 64);
        break;
      case 1:
        draft.reth->dma_length = 4096;
        break;
      case 2:
        *draft.reth = elsewhere(shop, shop.memory().write_only, 64);
        break;
      default:
        draft.reth->r_key = RKey{static_cast<std::uint32_t>(shop.number())};
        break;
    }
    shop.attack(shot, draft);
  }
}
void flush_behind(Workshop& shop, Target& target, Shot& shot) {
  shop.legal(shot, shop.write(target, Opcode::rc_write_only, 64));
  for (unsigned i = 0; i < 4; ++i) {
    Draft draft = shop.flush(target);
    draft.bth.psn = target.psn - static_cast<std::uint32_t>(1 + (i == 0 ? 0 : shop.below(1 << 23)));
    shop.attack(shot, draft);
  }
}

void no_first(Workshop& shop, Target& target, Shot& shot) {
  Draft draft = shop.frame(target, shop.any_of({Opcode::rc_send_middle, Opcode::rc_send_last, Opcode::rc_send_last_imm,
                                                Opcode::rc_write_middle, Opcode::rc_write_last,
                                                Opcode::rc_write_last_imm, Opcode::rc_send_last_invalidate}));
  const OpcodeInfo& info = opcode_info(draft.bth.opcode);
  draft.payload = shop.bytes(kMtu);
  if (info.immediate) draft.immediate = ImmDt{7};
  if (info.invalidate) draft.invalidate = Ieth{shop.memory().granted.r_key};
  shop.attack(shot, draft);
}
void inside_message(Workshop& shop, Target& target, Shot& shot) {
  shop.legal(shot, shop.write(target, Opcode::rc_write_first, 3 * kMtu));
  switch (shop.below(8)) {
    case 0:
      return shop.attack(shot, shop.write(target, Opcode::rc_write_first, 2 * kMtu));
    case 1:
      return shop.attack(shot, shop.write(target, Opcode::rc_write_only, 64));
    case 2:
      return shop.attack(shot, shop.read(target, 64));
    case 3:
      return shop.attack(shot, shop.atomic(target, Opcode::rc_fetch_add));
    case 4:
      return shop.attack(shot, shop.send(target, Opcode::rc_send_middle, kMtu));
    case 5:
      return shop.attack(shot, shop.send(target, Opcode::rc_send_last, kMtu));
    case 6:
      return shop.attack(shot, shop.flush(target));
    default:
      return shop.attack(shot, shop.atomic_write(target));
  }
}
void pad_count(Workshop& shop, Target& target, Shot& shot) {
  const auto length = static_cast<std::uint32_t>(8 + shop.below(64));
  Draft draft = shop.write(target, Opcode::rc_write_only, length);
  draft.wrong_pad_count = static_cast<std::uint8_t>((0 - length + 1 + shop.below(3)) & 3);
  shop.attack(shot, draft);
}
void packet_length(Workshop& shop, Target& target, Shot& shot) {
  const unsigned choice = static_cast<unsigned>(shop.below(6));
  if (choice >= 2) shop.legal(shot, shop.write(target, Opcode::rc_write_first, 3 * kMtu));
  Draft draft = shop.frame(target, choice % 2 == 0 ? Opcode::rc_write_middle : Opcode::rc_write_last);
  switch (choice) {
    case 0:
      draft = shop.write(target, Opcode::rc_write_first, 3 * kMtu);
      draft.payload = shop.bytes(kMtu - 4);
      break;
    case 1:
      draft = shop.write(target, Opcode::rc_write_only, kMtu + 4);
      draft.payload = shop.bytes(kMtu + 4);
      break;
    case 2:
      draft.payload = shop.bytes(kMtu - 1);
      break;
    case 3:
      break;
    case 4:
      draft.payload = shop.bytes(1024);
      break;
    default:
      draft.payload = shop.bytes(kMtu + 1);
      break;
  }
  shop.attack(shot, draft);
}
void announced_length(Workshop& shop, Target& target, Shot& shot) {
  Draft draft = shop.write(target, Opcode::rc_write_only, 128);
  draft.reth->dma_length = shop.any_of({127U, 129U, 0U, 4U, 0x8000'0001U, 0xFFFF'FFFFU});
  draft.reth->virtual_address = shop.memory().granted.address + target.index * PeerMemory::kArea;
  shop.attack(shot, draft);
}
void longer_than_announced(Workshop& shop, Target& target, Shot& shot) {
  // Two packets of a message that needs two, and then a third.
  Draft first = shop.write(target, Opcode::rc_write_first, 2 * kMtu - 1);
  shop.legal(shot, first);
  Draft draft = shop.frame(target, shop.any_of({Opcode::rc_write_last, Opcode::rc_write_middle}));
  draft.payload = shop.bytes(kMtu);
  shop.attack(shot, draft);
}
void huge_length(Workshop& shop, Target& target, Shot& shot) {
  Draft draft = shop.write(target, Opcode::rc_write_first, 2 * kMtu);
  draft.reth->dma_length = shop.any_of({0x8000'0000U, 0x7FFF'FFFFU, 1U << 20});
  shop.attack(shot, draft);
}

void write_place(Workshop& shop, Target& target, Shot& shot) {
  Draft draft = shop.write(target, Opcode::rc_write_only, 64);
  draft.reth->virtual_address = outside(shop, 64);
  shop.attack(shot, draft);
}
void read_place(Workshop& shop, Target& target, Shot& shot) {
  Draft draft = shop.read(target, 64);
  draft.reth->virtual_address = outside(shop, 64);
  shop.attack(shot, draft);
}
void write_key(Workshop& shop, Target& target, Shot& shot) {
  Draft draft = shop.write(target, Opcode::rc_write_only, 64);
  PeerMemory& memory = shop.memory();
  const std::uint32_t key = draft.reth->r_key.value();
  switch (shop.below(9)) {
    case 0:
      draft.reth->r_key = RKey{static_cast<std::uint32_t>(shop.number())};
      break;
    case 1:
      draft.reth->r_key = RKey{key ^ 1U << shop.below(32)};
      break;
    case 2:
      *draft.reth = elsewhere(shop, memory.others, 64);
      break;
    case 3:
      *draft.reth = elsewhere(shop, memory.gone, 64);
      break;
    case 4:
      *draft.reth = elsewhere(shop, memory.read_only, 64);
      break;
    case 5:
      *draft.reth = elsewhere(shop, memory.atomic_only, 64);
      break;
    case 6:
      *draft.reth = elsewhere(shop, memory.above, 64);
      break;
    case 7:
      *draft.reth = elsewhere(shop, memory.local, 64);
      break;
    default:
      draft.reth->r_key = memory.read_only.r_key;
      break;
  }
  shop.attack(shot, draft);
}
void read_key(Workshop& shop, Target& target, Shot& shot) {
  Draft draft = shop.read(target, 64);
  PeerMemory& memory = shop.memory();
  const std::array<const Region*, 6> regions{&memory.others, &memory.gone,  &memory.write_only,
                                             &memory.above,  &memory.local, &memory.atomic_only};
  const std::uint64_t choice = shop.below(regions.size() + 1);
  if (choice < regions.size()) {
    *draft.reth = elsewhere(shop, *regions[choice], 64);
  } else {
    draft.reth->r_key = RKey{static_cast<std::uint32_t>(shop.number())};
  }
  shop.attack(shot, draft);
}
void read_shape(Workshop& shop, Target& target, Shot& shot) {
  Draft draft = shop.read(target, 64);
  if (shop.below(2) == 0) {
    draft.payload = shop.bytes(4 + shop.below(64));
  } else {
    draft.reth->dma_length = shop.any_of({0x8000'0001U, 0xFFFF'FFFFU});
  }
  shop.attack(shot, draft);
}
void atomic_key(Workshop& shop, Target& target, Shot& shot) {
  Draft draft = shop.atomic(target, shop.any_of({Opcode::rc_fetch_add, Opcode::rc_compare_swap}));
  PeerMemory& memory = shop.memory();
  const std::array<const Region*, 5> regions{&memory.others, &memory.gone, &memory.write_only, &memory.read_only,
                                             &memory.above};
  if (shop.below(3) == 0) {
    draft.atomic->virtual_address = outside(shop, 8) & ~std::uint64_t{7};
    const std::uint64_t at = draft.atomic->virtual_address - memory.granted.address;
    if (at <= memory.granted.length - 8) draft.atomic->virtual_address = memory.granted.address + memory.granted.length;
  } else {
    const Reth place = elsewhere(shop, *regions[shop.below(regions.size())], 8);
    draft.atomic->virtual_address = place.virtual_address;
    draft.atomic->r_key = place.r_key;
  }
  shop.attack(shot, draft);
}
void atomic_shape(Workshop& shop, Target& target, Shot& shot) {
  Draft draft = shop.atomic(target, shop.any_of({Opcode::rc_fetch_add, Opcode::rc_compare_swap}));
  if (shop.below(3) == 0) {
    draft.payload = shop.bytes(8);
  } else {
    draft.atomic->virtual_address =
        shop.memory().granted.address + target.index * PeerMemory::kArea + 8 + 1 + shop.below(7);
  }
  shop.attack(shot, draft);
}
void atomic_write_shape(Workshop& shop, Target& target, Shot& shot) {
  Draft draft = shop.atomic_write(target);
  draft.reth->virtual_address = shop.memory().granted.address + target.index * PeerMemory::kArea + 64;
  switch (shop.below(4)) {
    case 0:
      draft.payload = shop.bytes(shop.any_of({0U, 4U, 7U, 12U, 16U, 256U}));
      break;
    case 1:
      draft.reth->dma_length = shop.any_of({0U, 4U, 16U, 0xFFFF'FFFFU});
      break;
    case 2:
      draft.wrong_pad_count = static_cast<std::uint8_t>(1 + shop.below(3));
      break;
    default:
      draft.reth->virtual_address += 1 + shop.below(7);
      break;
  }
  shop.attack(shot, draft);
}
void atomic_write_key(Workshop& shop, Target& target, Shot& shot) {
  Draft draft = shop.atomic_write(target);
  PeerMemory& memory = shop.memory();
  const std::array<const Region*, 4> regions{&memory.others, &memory.gone, &memory.read_only, &memory.above};
  *draft.reth = elsewhere(shop, *regions[shop.below(regions.size())], 8);
  shop.attack(shot, draft);
}
void flush_shape(Workshop& shop, Target& target, Shot& shot) {
  Draft draft = shop.flush(target);
  if (shop.below(2) == 0) {
    draft.feth = Feth{};
  } else {
    draft.payload = shop.bytes(4);
  }
  shop.attack(shot, draft);
}
void flush_rights(Workshop& shop, Target& target, Shot& shot) {
  Draft draft = shop.flush(target);
  PeerMemory& memory = shop.memory();
  const std::array<const Region*, 5> regions{&memory.others, &memory.gone, &memory.no_flush, &memory.read_only,
                                             &memory.above};
  if (shop.below(4) == 0) {
    draft.reth->virtual_address = outside(shop, 64);
  } else {
    *draft.reth = elsewhere(shop, *regions[shop.below(regions.size())], 64);
    if (shop.below(2) == 0) draft.feth->selectivity = FlushSelectivity::memory_region;
  }
  shop.attack(shot, draft);
}
void flush_odd(Workshop& shop, Target& target, Shot& shot) {
  Draft draft = shop.flush(target);
  switch (shop.below(3)) {
    case 0:
      draft.feth->reserved = static_cast<std::uint32_t>(shop.below(1 << 26));
      break;
    case 1:
      draft.feth->reserved_placement = 3;
      break;
    default:
      draft.feth->selectivity = FlushSelectivity::memory_region;
      draft.reth->virtual_address = shop.number();
      draft.reth->dma_length = static_cast<std::uint32_t>(shop.number());
      break;
  }
  shop.attack(shot, draft);
}
void flush_selector(Workshop& shop, Target& target, Shot& shot) {
  Draft draft = shop.flush(target);
  draft.feth->selectivity = static_cast<FlushSelectivity>(2 + shop.below(2));
  draft.reth->virtual_address = outside(shop, 64);
  shop.attack(shot, draft);
}

void send_without_receive(Workshop& shop, Target& target, Shot& shot) {
  const bool write = shop.below(3) == 0;
  Draft draft = write ? shop.write(target, Opcode::rc_write_only_imm, 64)
                      : shop.send(target, shop.any_of({Opcode::rc_send_only, Opcode::rc_send_only_imm}), 64);
  if (opcode_info(draft.bth.opcode).immediate) draft.immediate = ImmDt{1};
  shop.attack(shot, draft);
}
void send_too_long(Workshop& shop, Target& target, Shot& shot) {
  shot.requests.push_back(shop.post_receive(target, static_cast<std::uint32_t>(shop.below(200))));
  ++target.receives;
  shop.attack(shot, shop.send(target, Opcode::rc_send_only, static_cast<std::uint32_t>(201 + shop.below(55))));
}
void send_too_many(Workshop& shop, Target& target, Shot& shot) {
  shot.requests.push_back(shop.post_receive(target, 2 * kMtu));
  ++target.receives;
  shop.legal(shot, shop.send(target, Opcode::rc_send_first, kMtu));
  shop.legal(shot, shop.send(target, Opcode::rc_send_middle, kMtu));
  shop.attack(shot, shop.send(target, shop.any_of({Opcode::rc_send_last, Opcode::rc_send_middle}), kMtu));
}
void send_shape(Workshop& shop, Target& target, Shot& shot) {
  shot.requests.push_back(shop.post_receive(target, PeerMemory::kBuffer));
  ++target.receives;
  Draft draft = shop.send(target, Opcode::rc_send_only, kMtu + 4);
  if (shop.below(2) == 0) draft = shop.send(target, Opcode::rc_send_first, kMtu - 4);
  shop.attack(shot, draft);
}
void invalidate(Workshop& shop, Target& target, Shot& shot) {
  shot.requests.push_back(shop.post_receive(target, PeerMemory::kBuffer));
  ++target.receives;
  Draft draft = shop.send(target, Opcode::rc_send_only_invalidate, 16);
  PeerMemory& memory = shop.memory();
  draft.invalidate = Ieth{shop.any_of(
      {memory.granted.r_key, memory.others.r_key, memory.gone.r_key, RKey{static_cast<std::uint32_t>(shop.number())}})};
  shop.attack(shot, draft);
}
void send_fits(Workshop& shop, Target& target, Shot& shot) {
  shot.requests.push_back(shop.post_receive(target, kMtu));
  ++target.receives;
  Draft draft = shop.send(target, Opcode::rc_send_only_imm, static_cast<std::uint32_t>(shop.below(kMtu + 1)));
  draft.immediate = ImmDt{static_cast<std::uint32_t>(shop.number())};
  draft.bth.reserved2 = static_cast<std::uint8_t>(shop.below(128));
  shop.attack(shot, draft);
}
void empty_write_nowhere(Workshop& shop, Target& target, Shot& shot) {
  // A length of 0 writes and reads nothing, so that address and key do not matter.
  Draft draft = shop.write(target, Opcode::rc_write_only, 0);
  if (shop.below(2) == 0) draft = shop.read(target, 0);
  draft.reth->virtual_address = shop.number();
  draft.reth->r_key = RKey{static_cast<std::uint32_t>(shop.number())};
  shop.attack(shot, draft);
}

void answers(Workshop& shop, Target& target, Shot& shot) {
  for (unsigned i = 0; i < 6; ++i) {
    Draft draft = shop.frame(target, shop.any_of({Opcode::rc_acknowledge, Opcode::rc_atomic_acknowledge,
                                                  Opcode::rc_read_response_only, Opcode::rc_read_response_first,
                                                  Opcode::rc_read_response_middle, Opcode::rc_read_response_last}));
    draft.bth.psn = Psn{static_cast<std::uint32_t>(shop.number())};
    draft.bth.ack_req = false;
    const OpcodeInfo& info = opcode_info(draft.bth.opcode);
    if (info.position != Position::middle) {
      draft.aeth =
          Aeth{AethSyndrome{static_cast<std::uint8_t>(shop.number())}, Msn{static_cast<std::uint32_t>(shop.number())}};
    }
    if (info.operation == Operation::atomic_acknowledge) draft.atomic_ack = AtomicAckEth{shop.number()};
    if (info.operation == Operation::read_response) draft.payload = shop.bytes(kMtu);
    shop.attack(shot, draft);
  }
}

constexpr Role rc = Role::rc;
constexpr std::array kKinds{
    Kind{"psn: ahead", rc, 4, Fate::dropped, kGap, psn_ahead},
    Kind{"psn: 2^23-1 ahead", rc, 2, Fate::dropped, kGap, psn_half},
    Kind{"psn: behind", rc, 4, Fate::dropped, kDuplicate, psn_behind},
    Kind{"psn: atomic that never was", rc, 2, Fate::dropped, kDuplicate, atomic_behind},
    Kind{"psn: READ again, of other memory", rc, 3, Fate::dropped, kDuplicate, read_behind},
    Kind{"psn: FLUSH that never was", rc, 2, Fate::dropped, kDuplicate, flush_behind},
    Kind{"opcode: no FIRST", rc, 4, Fate::fatal, kInvalid, no_first},
    Kind{"opcode: inside a WRITE", rc, 4, Fate::fatal, kInvalid, inside_message},
    Kind{"opcode: answers to nothing", rc, 3, Fate::dropped, {.counters = {"ghost_acks"}}, answers},
    Kind{"length: pad count", rc, 4, Fate::fatal, kInvalid, pad_count},
    Kind{"length: not the path MTU", rc, 4, Fate::fatal, kInvalid, packet_length},
    Kind{"length: not that of the RETH", rc, 5, Fate::fatal, kInvalid, announced_length},
    Kind{"length: more than the RETH says", rc, 4, Fate::fatal, kInvalid, longer_than_announced},
    Kind{"length: RETH beyond the region", rc, 3, Fate::fatal, kAccess, huge_length},
    Kind{"place: WRITE", rc, 6, Fate::fatal, kAccess, write_place},
    Kind{"place: READ", rc, 4, Fate::fatal, kAccess, read_place},
    Kind{"key: WRITE", rc, 6, Fate::fatal, kAccess, write_key},
    Kind{"key: READ", rc, 4, Fate::fatal, kAccess, read_key},
    Kind{"key: atomic", rc, 4, Fate::fatal, kAccess, atomic_key},
    Kind{"key: ATOMIC WRITE", rc, 3, Fate::fatal, kAccess, atomic_write_key},
    Kind{"key: FLUSH", rc, 3, Fate::fatal, kAccess, flush_rights},
    Kind{"shape: READ", rc, 3, Fate::fatal, kInvalid, read_shape},
    Kind{"shape: atomic", rc, 3, Fate::fatal, kInvalid, atomic_shape},
    Kind{"shape: ATOMIC WRITE", rc, 3, Fate::fatal, kInvalid, atomic_write_shape},
    Kind{"shape: FLUSH", rc, 2, Fate::fatal, kInvalid, flush_shape},
    Kind{"shape: FLUSH, reserved selector", rc, 2, Fate::fatal, kAccess, flush_selector},
    Kind{"shape: FLUSH, odd but allowed", rc, 2, Fate::may_execute, {}, flush_odd},
    Kind{"shape: nothing, anywhere", rc, 2, Fate::may_execute, {}, empty_write_nowhere},
    Kind{"SEND: no receive", rc, 3, Fate::dropped, kNoBuffer, send_without_receive},
    Kind{"SEND: longer than its receive",
         rc,
         3,
         Fate::fatal,
         {.nak = NakCode::invalid_request, .counters = {"local_length_errors"}},
         send_too_long},
    Kind{"SEND: one packet too many",
         rc,
         3,
         Fate::fatal,
         {.nak = NakCode::invalid_request, .counters = {"local_length_errors"}},
         send_too_many},
    Kind{"SEND: not the path MTU", rc, 3, Fate::fatal, kInvalid, send_shape},
    Kind{"SEND: invalidates what it may not",
         rc,
         3,
         Fate::silent_end,
         {.counters = {"responder_cqe_errors"}},
         invalidate},
    Kind{"SEND: reserved bits", rc, 2, Fate::may_execute, {}, send_fits}};

}  // namespace

std::span<const Kind> connection_kinds() {
  return kKinds;
}

}  // namespace roce::attack
