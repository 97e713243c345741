// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "replay/conversation.h"
#include "replay/failure.h"

namespace roce::replay {

/// What a capture file has of RC connections.
struct CapturedConversations {
  std::vector<Conversation> conversations;
  std::uint64_t left_out = 0;  ///< as ConversationReader::left_out
};

/// The RC connections of a capture file; `memory`: as `ConversationReader` takes it. Failure: it cannot be read, or has
/// no RoCE in it.
[[nodiscard]] Outcome<CapturedConversations> conversations_of(const std::string& path,
                                                              std::uint64_t memory = kUsualMemory);

}  // namespace roce::replay
