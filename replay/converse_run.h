// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "replay/conversation.h"
#include "replay/converse_options.h"
#include "replay/converse_report.h"
#include "replay/failure.h"

namespace roce::replay {

/// Memories that options name: `RKEY:ADDRESS=RKEY:ADDRESS`, the captured and the live one. Failure: something else.
[[nodiscard]] Outcome<std::vector<RemoteMemory>> parse_remote_memory(const std::vector<std::string>& texts);

/// Connects each conversation with the live peer and plays our side of all of them at a time. `played` gets how each
/// went, also with a failure. Failure: the endpoint cannot be opened, or the peer not be reached.
[[nodiscard]] Outcome<void> run_conversations(const ConverseOptions& options,
                                              const std::vector<const Conversation*>& conversations,
                                              std::vector<Played>& played);

}  // namespace roce::replay
