// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "conform/fuzz/expectation.h"
#include "conform/target/target.h"

namespace roce::conform::fuzz {

/// True if the frames of the device are just the answers of a behaviour.
[[nodiscard]] bool fits(const Behaviour& behaviour, const std::vector<SeenFrame>& frames);

/// Returns a behaviour in words: `NAK 0x60: RC_ACKNOWLEDGE PSN 100 syndrome 0x60 MSN 0`.
[[nodiscard]] std::string text_of(const Behaviour& behaviour);
/// Returns the kinds of the frames, each once and without numbers, or `nothing`: `RC_ACKNOWLEDGE 0x60`.
[[nodiscard]] std::string kinds_of(const std::vector<SeenFrame>& frames);

}  // namespace roce::conform::fuzz
