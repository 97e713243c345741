// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "replay/conversation.h"
#include "replay/failure.h"

namespace roce::replay {

/// The RC connections of a capture file. Failure: it cannot be read, or has no RoCE in it.
[[nodiscard]] Outcome<std::vector<Conversation>> conversations_of(const std::string& path);

}  // namespace roce::replay
