// SPDX-License-Identifier: BSD-2-Clause
// Wrong responses to the requests of the peer: READ, SEND, WRITE, atomics.
#include <array>

#include "shot.h"

namespace roce::attack {

namespace {

constexpr std::uint32_t kMtu = Workshop::kPathMtu;
constexpr Aim kGhost{.counters = {"ghost_acks"}};
constexpr Aim kFailed{.counters = {"requester_cqe_errors"}};

[[nodiscard]] Draft answer(Workshop& shop, const Target& target, Opcode opcode) {
  Draft draft{shop.route(), opcode, target.qpn, target.asked->psn};
  const OpcodeInfo& info = opcode_info(opcode);
  if (info.position != Position::middle) draft.aeth = Aeth{AethSyndrome::ack(), Msn{1}};
  if (info.operation == Operation::atomic_acknowledge) draft.atomic_ack = AtomicAckEth{shop.number()};
  return draft;
}

/// Returns the right response: its only or first packet.
[[nodiscard]] Draft right_answer(Workshop& shop, const Target& target) {
  const HeardRequest& asked = *target.asked;
  switch (opcode_info(asked.opcode).operation) {
    case Operation::read_request: {
      Draft draft =
          answer(shop, target, asked.packets == 1 ? Opcode::rc_read_response_only : Opcode::rc_read_response_first);
      draft.payload = shop.bytes(std::min(asked.dma_length, kMtu));
      return draft;
    }
    case Operation::compare_swap:
    case Operation::fetch_add:
      return answer(shop, target, Opcode::rc_atomic_acknowledge);
    case Operation::flush:
    case Operation::atomic_write:
      return answer(shop, target, Opcode::rc_read_response_only);
    default:
      return answer(shop, target, Opcode::rc_acknowledge);
  }
}

void out_of_window(Workshop& shop, Target& target, Shot& shot) {
  for (unsigned i = 0; i < 6; ++i) {
    Draft draft = right_answer(shop, target);
    const std::uint32_t taken = target.asked->packets;
    draft.bth.psn = shop.below(2) == 0 ? target.asked->psn + static_cast<std::uint32_t>(taken + shop.below(1 << 22))
                                       : target.asked->psn - static_cast<std::uint32_t>(1 + shop.below(1 << 22));
    shop.attack(shot, draft);
  }
}
void message_number(Workshop& shop, Target& target, Shot& shot) {
  Draft draft = right_answer(shop, target);
  draft.aeth->msn = Msn{static_cast<std::uint32_t>(shop.number())};
  draft.bth.reserved2 = static_cast<std::uint8_t>(shop.below(128));
  draft.bth.ack_req = shop.below(2) == 0;
  shop.attack(shot, draft);
}
void nak(Workshop& shop, Target& target, Shot& shot) {
  Draft draft = answer(shop, target, Opcode::rc_acknowledge);
  draft.aeth->syndrome = AethSyndrome{static_cast<std::uint8_t>(0x61 + shop.below(31))};
  draft.aeth->msn = Msn{static_cast<std::uint32_t>(shop.number())};
  shop.attack(shot, draft);
}
void reserved_syndrome(Workshop& shop, Target& target, Shot& shot) {
  for (unsigned i = 0; i < 4; ++i) {
    Draft draft = answer(shop, target, Opcode::rc_acknowledge);
    draft.aeth->syndrome = AethSyndrome{static_cast<std::uint8_t>(0x40 + shop.below(32))};
    shop.attack(shot, draft);
  }
}
void wrong_sort(Workshop& shop, Target& target, Shot& shot) {
  const Operation operation = opcode_info(target.asked->opcode).operation;
  const bool atomic = operation == Operation::compare_swap || operation == Operation::fetch_add;
  Draft draft = answer(shop, target, atomic ? Opcode::rc_read_response_only : Opcode::rc_atomic_acknowledge);
  if (atomic) draft.payload = shop.bytes(8);
  shop.attack(shot, draft);
}
void length(Workshop& shop, Target& target, Shot& shot) {
  Draft draft = right_answer(shop, target);
  if (opcode_info(target.asked->opcode).operation != Operation::read_request) {
    draft = answer(shop, target, Opcode::rc_read_response_only);
    draft.payload = shop.bytes(4 + shop.below(kMtu));
  } else {
    switch (shop.below(4)) {
      case 0:
        draft.payload = shop.bytes(draft.payload.size() - 1);
        break;
      case 1:
        draft.payload = shop.bytes(draft.payload.size() + 1 + shop.below(700));
        break;
      case 2:
        draft.payload.clear();
        break;
      default:
        // The only packet of a response that has several, or the first of several for a response of one.
        draft = answer(shop, target,
                       target.asked->packets == 1 ? Opcode::rc_read_response_first : Opcode::rc_read_response_only);
        draft.payload = shop.bytes(kMtu);
        break;
    }
  }
  shop.attack(shot, draft);
}
void refusing_data(Workshop& shop, Target& target, Shot& shot) {
  Draft draft = right_answer(shop, target);
  const Operation operation = opcode_info(draft.bth.opcode).operation;
  if (operation == Operation::acknowledge) draft.bth.opcode = Opcode::rc_read_response_only;
  draft.aeth->syndrome = AethSyndrome{shop.any_of<std::uint8_t>({0x60, 0x61, 0x62, 0x20, 0x40, 0x7F})};
  shop.attack(shot, draft);
}
void spoilt(Workshop& shop, Target& target, Shot& shot) {
  for (unsigned i = 0; i < 5; ++i) {
    Draft draft = right_answer(shop, target);
    switch (shop.below(4)) {
      case 0:
        draft.wrong_icrc_bits = 1U << shop.below(32);
        break;
      case 1:
        draft.bth.p_key = PKey{0x1234};
        break;
      case 2:
        draft.ipv4.source.octets[3] ^= 0x40;
        draft.ipv6.source.octets[15] ^= 0x40;
        draft.grh.source.octets[15] ^= 0x40;
        break;
      default:
        draft.bth.version = 1;
        break;
    }
    shop.attack(shot, draft);
  }
}
void middle_first(Workshop& shop, Target& target, Shot& shot) {
  // A later part of the data while an earlier one is missing.
  Draft draft = answer(shop, target, shop.any_of({Opcode::rc_read_response_middle, Opcode::rc_read_response_last}));
  if (target.asked->packets > 1) draft.bth.psn = target.asked->psn + (target.asked->packets - 1);
  draft.payload = shop.bytes(kMtu);
  shop.attack(shot, draft);
}

constexpr Role requester = Role::requester;
constexpr std::array kKinds{
    Kind{"answer: PSN of nothing under way", requester, 4, Fate::dropped, kGhost, out_of_window},
    Kind{"answer: MSN, reserved bits", requester, 2, Fate::may_execute, {}, message_number},
    Kind{"answer: NAK", requester, 3, Fate::fatal, kFailed, nak},
    Kind{"answer: reserved syndrome", requester, 2, Fate::dropped, {}, reserved_syndrome},
    Kind{"answer: of another operation", requester, 4, Fate::fatal, kFailed, wrong_sort},
    Kind{"answer: length", requester, 5, Fate::fatal, kFailed, length},
    Kind{"answer: data with a NAK", requester, 3, Fate::fatal, kFailed, refusing_data},
    Kind{"answer: spoilt",
         requester,
         3,
         Fate::dropped,
         {.counters = {"icrc_errors", "p_key_violations", "wrong_address", "malformed"}},
         spoilt},
    Kind{"answer: out of order",
         requester,
         3,
         Fate::may_execute,
         {.counters = {"implied_naks", "requester_cqe_errors"}},
         middle_first}};

}  // namespace

std::span<const Kind> response_kinds() {
  return kKinds;
}

}  // namespace roce::attack
