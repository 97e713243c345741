// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "link/classic_bpf_assembler.h"

namespace roce::link {

/// Offset in the BTH of a reserved byte and the DestQP after it.
inline constexpr std::uint32_t kDestQp = 4;

/// Writes code that ends the program with the shard of the DestQP in the accumulator, whose highest byte counts for
/// nothing: its low `shard_bits` bits. QP0, QP1 and multicast datagrams go to `first`, a label of code that gives 0.
inline void give_shard(ClassicBpfAssembler& code, std::uint32_t shard_bits, ClassicBpfAssembler::Label first) {
  constexpr std::uint32_t qpn_bits = 0xff'ffff;
  constexpr std::uint32_t gsi = 1;
  constexpr std::uint32_t multicast = 0xff'ffff;
  code.mask(qpn_bits);
  code.jump_if_not_greater(gsi, first);
  code.jump_if_equal(multicast, first);
  code.mask((1U << shard_bits) - 1);
  code.give_accumulator();
}

}  // namespace roce::link
