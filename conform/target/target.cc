// SPDX-License-Identifier: BSD-2-Clause
#include "conform/target/target.h"

#include <array>

namespace roce::conform {

Psn draw_psn(std::uint64_t random) {
  constexpr std::array<std::uint32_t, 5> edges{0xFF'FFFC, 0, 0x7F'FFFE, 0x80'0000, 0xFF'FFFF};
  if (random % 2 == 0) return Psn{edges.at((random >> 1U) % edges.size())};
  return Psn{static_cast<std::uint32_t>(random >> 8U & 0xFF'FFFF)};
}

std::string_view to_string(Damage damage) {
  switch (damage) {
    case Damage::none:
      return "none";
    case Damage::one_qp:
      return "one QP";
    case Damage::device_deaf:
      return "device deaf";
    case Damage::agent_gone:
      return "agent gone";
    case Damage::no_link:
      return "no link";
  }
  return "";
}

}  // namespace roce::conform
