// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "conform/fuzz/program.h"
#include "conform/run/cm_talk.h"
#include "conform/target/target.h"

namespace roce::conform::fuzz {

/// Builds the frame of a message; `talk` has what it says about the connection if nothing is changed. Empty if its
/// headers do not fit into a frame.
[[nodiscard]] std::vector<std::byte> build_message(const Message& message, const CmTalk& talk, const Port& port);

}  // namespace roce::conform::fuzz
