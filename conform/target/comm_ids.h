// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "roce/wire/packet.h"

namespace roce::conform {

/// The communication IDs in a message of the communication manager, as its sender sees them; 0: none.
struct CommIds {
  std::uint32_t local = 0;
  std::uint32_t remote = 0;
};

/// Returns those of a message; none of a packet that is no message.
[[nodiscard]] CommIds comm_ids_of(const Packet& packet);

}  // namespace roce::conform
