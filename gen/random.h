// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "roce/wire/types.h"

namespace roce::gen {

/// A number that nobody can guess, for keys, queue pair numbers and PSNs; after `seed_random` the next of a series.
[[nodiscard]] std::uint64_t random_number();
/// Likewise.
[[nodiscard]] Psn random_psn();
/// From now on the same numbers for the same seed, of one program: for simulations that have to be repeatable.
void seed_random(std::uint64_t seed);

}  // namespace roce::gen
