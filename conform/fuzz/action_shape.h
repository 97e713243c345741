// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "conform/fuzz/program.h"

namespace roce::conform::fuzz {

/// Returns a number that is the same for actions that differ in values only, and probably do the same to a device: of a
/// frame what kind it is, the key that it names, and what is unusual about its PSN, its lengths, its address and its
/// fields.
[[nodiscard]] std::uint64_t shape_of(const Action& action);

}  // namespace roce::conform::fuzz
