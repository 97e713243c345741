// SPDX-License-Identifier: BSD-2-Clause
#include "replay/played_end.h"

#include <algorithm>

namespace roce::replay {

EndPlan plan_end(const Conversation& conversation, std::uint8_t side) {
  constexpr std::size_t kAlignment = 8;
  constexpr std::uint32_t kMostReceives = 512;
  EndPlan plan;
  std::size_t messages = 0;
  plan.offsets.resize(conversation.operations.size());
  for (std::size_t i = 0; i < conversation.operations.size(); ++i) {
    const CapturedOperation& operation = conversation.operations[i];
    if (operation.side == side) {
      plan.offsets[i] = plan.data_bytes;
      plan.data_bytes += (std::max<std::size_t>(operation.length, 1) + kAlignment - 1) / kAlignment * kAlignment;
    } else if (operation.is_message()) {
      ++messages;
      // What was refused may have been too long.
      if (operation.end != analysis::MessageEnd::refused) {
        plan.receive_bytes = std::max<std::size_t>(plan.receive_bytes, operation.length);
      }
    }
  }
  plan.data_bytes = std::max(plan.data_bytes, kAlignment);
  plan.receive_bytes = std::max<std::size_t>(plan.receive_bytes, 1);
  plan.receives = static_cast<std::uint32_t>(std::min<std::size_t>(messages, kMostReceives));
  return plan;
}

}  // namespace roce::replay
