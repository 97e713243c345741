// SPDX-License-Identifier: BSD-2-Clause
// Makes on purpose all that a faulty peer would show; the judge has to find all of it.
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "frame_attack.h"

namespace roce::attack {

namespace {

void legal_write(Workshop& shop, Target& target, Shot& shot) {
  shop.attack(shot, shop.write(target, Opcode::rc_write_only, 64));
}
void legal_read(Workshop& shop, Target& target, Shot& shot) {
  shop.attack(shot, shop.read(target, 64));
}

constexpr Aim kAccess{.nak = NakCode::remote_access_error};
constexpr std::array kKinds{
    Kind{"self-check: executed, to be dropped", Role::rc, 1, Fate::dropped, {.counters = {"malformed"}}, legal_write},
    Kind{"self-check: executed, to be refused", Role::rc, 1, Fate::fatal, kAccess, legal_write},
    Kind{"self-check: answered, to be refused", Role::rc, 1, Fate::fatal, kAccess, legal_read}};

}  // namespace

void FrameAttack::break_promises() {
  for (const Kind& kind : kKinds) responder_round({&kind});
  // The shadow copy does not have the WRITEs of these rounds.
  check_memory();
  const auto write = [this](const Region& region, std::uint64_t offset) {
    line_.call(fmt::format(R"({{"op":"write_memory","memory":{},"offset":{},"data":"0123456789abcdef"}})",
                           region.memory, offset));
    check_memory();
  };
  write(memory_.granted, 4000);
  write(memory_.above, 0);
  write(memory_.read_only, 1000);
  write(memory_.local, PeerMemory::kBufferOffset + PeerMemory::kBuffer);
}

}  // namespace roce::attack
