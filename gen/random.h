// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "roce/wire/types.h"

namespace roce::gen {

/// Returns a number that cannot be guessed, for keys, QPNs and PSNs; after `seed_random`, the next of a series.
[[nodiscard]] std::uint64_t random_number();
/// Returns a PSN made of one of these numbers.
[[nodiscard]] Psn random_psn();
/// Makes all later numbers of the program follow from `seed`, for simulations that have to be repeatable.
void seed_random(std::uint64_t seed);

}  // namespace roce::gen
