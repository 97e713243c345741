// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "conform/language/expression.h"

namespace roce::conform {

/// Checks the opcode of a frame in a case: an opcode of the specification with its service or without, a number below
/// 256, a message of the communication manager, PFC or PAUSE. An expression, which has its value only in an instance,
/// is right. Error: which names there are.
[[nodiscard]] Evaluated<void> check_opcode(std::string_view text);

/// Checks the name of a field that a pattern compares: one of a header, of the network header, or of the payload.
/// Error: which fields there are.
[[nodiscard]] Evaluated<void> check_field(const std::string& name);

}  // namespace roce::conform
