// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "command_line/outcome.h"
#include "replay/converse/conversation.h"

namespace roce::replay {

/// The RC connections of a capture file.
struct CapturedConversations {
  std::vector<Conversation> conversations;
  std::uint64_t left_out = 0;  ///< as ConversationReader::left_out
};

/// Reads the RC connections of a capture file; `memory` is the bound of `ConversationReader`, in bytes.
/// Failure: the file cannot be read, or contains no RoCE.
[[nodiscard]] Outcome<CapturedConversations> conversations_of(const std::string& path,
                                                              std::uint64_t memory = kUsualMemory);

}  // namespace roce::replay
