// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>

#include "conform/target/target.h"
#include "roce/wire/packet.h"

namespace roce::conform {

/// Judges a frame of the device without knowing what it is for: what each frame must keep in any state (IBTA vol.
/// 1, 9.2; annex A17; rules NET and W-ICRC of docs/rules.md). Returns the deviation as a sentence; empty if there is
/// none.
[[nodiscard]] std::optional<std::string> find_deviation(const Packet& packet, const Port& port, PKey p_key);

}  // namespace roce::conform
