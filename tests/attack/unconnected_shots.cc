// SPDX-License-Identifier: BSD-2-Clause
// Packets for UC and UD queue pairs, and datagrams for QP1.
#include <array>

#include "shot.h"

namespace roce::attack {

namespace {

constexpr std::uint32_t kMtu = Workshop::kPathMtu;
constexpr QKey kQKey{0x1111'1111};
constexpr QKey kGsiQKey{0x8001'0000};
constexpr Aim kAccess{.counters = {"responder_access_errors"}};

[[nodiscard]] Draft datagram(Workshop& shop, const Target& target, std::uint32_t length) {
  Draft draft = shop.send(target, Opcode::ud_send_only, length);
  draft.bth.ack_req = false;
  draft.deth = Deth{.q_key = kQKey, .source_qp = target.own};
  return draft;
}

void uc_gap(Workshop& shop, Target& target, Shot& shot) {
  shop.legal(shot, shop.write(target, Opcode::uc_write_first, 3 * kMtu));
  Draft draft = shop.frame(target, Opcode::uc_write_middle);
  draft.bth.psn = target.psn + static_cast<std::uint32_t>(1 + shop.below(1 << 23));
  draft.payload = shop.bytes(kMtu);
  shop.attack(shot, draft);
  target.psn = draft.bth.psn + 1;
}
void uc_no_first(Workshop& shop, Target& target, Shot& shot) {
  for (unsigned i = 0; i < 4; ++i) {
    Draft draft = shop.frame(target, shop.any_of({Opcode::uc_write_middle, Opcode::uc_write_last,
                                                  Opcode::uc_send_middle, Opcode::uc_send_last}));
    draft.payload = shop.bytes(kMtu);
    shop.attack(shot, draft);
    target.psn = draft.bth.psn + 1;
  }
}
void uc_length(Workshop& shop, Target& target, Shot& shot) {
  Draft draft = shop.write(target, Opcode::uc_write_only, 128);
  switch (shop.below(3)) {
    case 0:
      draft.reth->dma_length = shop.any_of({127U, 129U, 0U, 0x8000'0001U});
      draft.reth->virtual_address = shop.memory().granted.address + target.index * PeerMemory::kArea;
      break;
    case 1:
      draft = shop.write(target, Opcode::uc_write_only, kMtu + 4);
      draft.payload = shop.bytes(kMtu + 4);
      break;
    default:
      draft = shop.write(target, Opcode::uc_write_first, 2 * kMtu);
      draft.payload = shop.bytes(kMtu - 4);
      break;
  }
  shop.attack(shot, draft);
  target.psn = draft.bth.psn + 1;
}
void uc_key(Workshop& shop, Target& target, Shot& shot) {
  const PeerMemory& memory = shop.memory();
  const std::array<const Region*, 6> regions{&memory.others, &memory.gone,        &memory.read_only,
                                             &memory.above,  &memory.atomic_only, &memory.local};
  for (unsigned i = 0; i < 5; ++i) {
    Draft draft = shop.write(target, Opcode::uc_write_only, 64);
    const Region& region = *regions[shop.below(regions.size())];
    draft.reth->virtual_address = region.address + shop.below(region.length - 64);
    draft.reth->r_key = region.r_key;
    shop.attack(shot, draft);
    target.psn = draft.bth.psn + 1;
  }
}
void uc_place(Workshop& shop, Target& target, Shot& shot) {
  const Region& granted = shop.memory().granted;
  for (unsigned i = 0; i < 5; ++i) {
    Draft draft = shop.write(target, Opcode::uc_write_only, 64);
    draft.reth->virtual_address =
        shop.any_of({granted.address - 1, granted.address - 64, granted.address + granted.length - 63,
                     granted.address + granted.length, ~std::uint64_t{0} - 62, shop.number()});
    shop.attack(shot, draft);
    target.psn = draft.bth.psn + 1;
  }
}
void uc_send(Workshop& shop, Target& target, Shot& shot) {
  for (unsigned i = 0; i < 4; ++i) {
    shop.attack(shot, shop.send(target, Opcode::uc_send_only, 64));
    target.psn = target.psn + 1;
  }
}
void uc_read(Workshop& shop, Target& target, Shot& shot) {
  for (unsigned i = 0; i < 4; ++i) {
    Draft draft = shop.read(target, 64);
    draft.bth.opcode = shop.any_of({Opcode::rc_read_request, static_cast<Opcode>(0x2C), static_cast<Opcode>(0x34)});
    shop.attack(shot, draft);
  }
}

void q_key(Workshop& shop, Target& target, Shot& shot) {
  for (unsigned i = 0; i < 6; ++i) {
    Draft draft = datagram(shop, target, 64);
    draft.deth->q_key = shop.any_of({QKey{kQKey.value() ^ 1U << shop.below(32)}, QKey{0}, kGsiQKey,
                                     QKey{static_cast<std::uint32_t>(shop.number())}});
    if (draft.deth->q_key == kQKey) draft.deth->q_key = QKey{0};
    shop.attack(shot, draft);
  }
}
void ud_too_long(Workshop& shop, Target& target, Shot& shot) {
  shot.requests.push_back(shop.post_receive(target, 40 + 64));
  ++target.receives;
  for (unsigned i = 0; i < 5; ++i) {
    shop.attack(shot, datagram(shop, target, static_cast<std::uint32_t>(65 + shop.below(1200))));
  }
}
void ud_no_receive(Workshop& shop, Target& target, Shot& shot) {
  for (unsigned i = 0; i < 5; ++i) shop.attack(shot, datagram(shop, target, 64));
}
void ud_p_key(Workshop& shop, Target& target, Shot& shot) {
  for (unsigned i = 0; i < 5; ++i) {
    Draft draft = datagram(shop, target, 64);
    draft.bth.p_key = PKey{shop.any_of<std::uint16_t>({0, 0x8000, 0x8001, 0x1234})};
    shop.attack(shot, draft);
  }
}
void ud_other_service(Workshop& shop, Target& target, Shot& shot) {
  for (unsigned i = 0; i < 5; ++i) {
    Draft draft = shop.write(target, shop.any_of({Opcode::rc_write_only, Opcode::uc_write_only}), 64);
    if (shop.below(2) == 0) draft = shop.send(target, Opcode::rc_send_only, 64);
    shop.attack(shot, draft);
  }
}
void ud_fits(Workshop& shop, Target& target, Shot& shot) {
  shot.requests.push_back(shop.post_receive(target, 40 + 1024));
  ++target.receives;
  Draft draft = datagram(shop, target, static_cast<std::uint32_t>(shop.below(1025)));
  draft.deth->reserved = static_cast<std::uint8_t>(shop.number());
  draft.deth->source_qp = Qpn{static_cast<std::uint32_t>(shop.number())};
  draft.bth.psn = Psn{static_cast<std::uint32_t>(shop.number())};
  draft.bth.ack_req = shop.below(2) == 0;
  draft.bth.reserved2 = static_cast<std::uint8_t>(shop.below(128));
  shop.attack(shot, draft);
}
void ud_to_nobody(Workshop& shop, Target& target, Shot& shot) {
  for (unsigned i = 0; i < 5; ++i) {
    Draft draft = datagram(shop, target, 64);
    draft.bth.dest_qp = shop.any_of({Qpn{0}, Qpn{0xFF'FFFF}, Qpn{target.qpn.value() ^ 0x80'0000}});
    shop.attack(shot, draft);
  }
}
void gsi(Workshop& shop, Target& target, Shot& shot) {
  for (unsigned i = 0; i < 5; ++i) {
    Draft draft = datagram(shop, target, static_cast<std::uint32_t>(shop.any_of({256U, 0U, 24U, 255U, 300U})));
    draft.bth.dest_qp = Qpn{1};
    draft.deth->q_key = shop.below(3) == 0 ? kQKey : kGsiQKey;
    if (draft.payload.size() >= 4 && shop.below(2) == 0) {
      draft.payload[0] = std::byte{1};
      draft.payload[1] = std::byte{7};
      draft.payload[2] = std::byte{2};
      draft.payload[3] = std::byte{3};
    }
    shop.attack(shot, draft);
  }
}

constexpr Role uc = Role::uc;
constexpr Role ud = Role::ud;
constexpr std::array kKinds{
    Kind{"UC: gap inside a WRITE", uc, 3, Fate::dropped, {.counters = {"out_of_sequence"}}, uc_gap},
    Kind{"UC: no FIRST", uc, 2, Fate::dropped, {}, uc_no_first},
    Kind{"UC: lengths", uc, 3, Fate::dropped, {}, uc_length},
    Kind{"UC: keys", uc, 4, Fate::dropped, kAccess, uc_key},
    Kind{"UC: places", uc, 4, Fate::dropped, kAccess, uc_place},
    Kind{"UC: no receive", uc, 2, Fate::dropped, {.counters = {"out_of_buffer"}}, uc_send},
    Kind{"UC: READ", uc, 2, Fate::dropped, {.counters = {"wrong_state", "malformed"}}, uc_read},
    Kind{"UD: Q_Key", ud, 3, Fate::dropped, {.counters = {"q_key_violations"}}, q_key},
    Kind{"UD: longer than its receive", ud, 3, Fate::dropped, {.counters = {"local_length_errors"}}, ud_too_long},
    Kind{"UD: no receive", ud, 2, Fate::dropped, {.counters = {"out_of_buffer"}}, ud_no_receive},
    Kind{"UD: P_Key", ud, 2, Fate::dropped, {.counters = {"p_key_violations"}}, ud_p_key},
    Kind{"UD: other service", ud, 2, Fate::dropped, {.counters = {"wrong_state"}}, ud_other_service},
    Kind{"UD: reserved bits", ud, 2, Fate::may_execute, {}, ud_fits},
    Kind{"UD: nobody's QP", ud, 2, Fate::dropped, {.counters = {"unknown_qp", "malformed"}}, ud_to_nobody},
    Kind{"QP1: no MAD", ud, 2, Fate::dropped, {.counters = {"q_key_violations", "received_packets"}}, gsi}};

}  // namespace

std::span<const Kind> unconnected_kinds() {
  return kKinds;
}

}  // namespace roce::attack
