// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "replay/converse/captured_stream.h"
#include "replay/converse/conversation.h"

namespace roce::replay {

/// Makes the operations of a stream out of its messages and their packets; what keeps it from being played is among its
/// obstacles. `data` is sorted on the way. `memory` is the limit, in bytes, that an obstacle names.
[[nodiscard]] Conversation build_conversation(const analysis::StreamSummary& summary, CapturedStream& data,
                                              std::uint64_t memory);

}  // namespace roce::replay
