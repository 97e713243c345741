// SPDX-License-Identifier: BSD-2-Clause
#include "conform/target/target.h"

namespace roce::conform {

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
