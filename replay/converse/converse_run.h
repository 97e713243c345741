// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "command_line/outcome.h"
#include "replay/converse/conversation.h"
#include "replay/converse/converse_options.h"
#include "replay/converse/converse_report.h"

namespace roce::replay {

/// Parses options `RKEY:ADDRESS=RKEY:ADDRESS`, the captured memory and the live one. Failure: another form.
[[nodiscard]] Outcome<std::vector<RemoteMemory>> parse_remote_memory(const std::vector<std::string>& texts);

/// Connects each conversation to the live peer and plays our side of all of them at the same time. `played` receives
/// how each went, also on failure. Failure: the endpoint cannot be opened, or the peer cannot be reached.
[[nodiscard]] Outcome<void> run_conversations(const ConverseOptions& options,
                                              const std::vector<const Conversation*>& conversations,
                                              std::vector<Played>& played);

}  // namespace roce::replay
