// SPDX-License-Identifier: BSD-2-Clause
#include "replay/converse/played_end.h"

#include <fmt/format.h>

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
      // A refused message may have been too long; a WRITE with immediate puts nothing into its receive.
      if (operation.end != analysis::MessageEnd::refused && operation.operation == Operation::send) {
        plan.receive_bytes = std::max<std::size_t>(plan.receive_bytes, operation.length);
      }
    }
  }
  plan.data_bytes = std::max(plan.data_bytes, kAlignment);
  plan.receive_bytes = std::max<std::size_t>(plan.receive_bytes, 1);
  plan.receives = static_cast<std::uint32_t>(std::min<std::size_t>(messages, kMostReceives));
  return plan;
}

tl::expected<std::uint64_t, std::string> memory_needed(const Conversation& conversation, std::uint64_t most) {
  constexpr std::uint64_t kCopies = 3;
  std::uint64_t left = most;
  for (std::uint8_t side = 0; side < 2; ++side) {
    const tl::expected<std::uint64_t, std::string> regions = memory_length(conversation, side, left / kCopies);
    if (!regions) return tl::unexpected(regions.error());
    left -= kCopies * *regions;
    const EndPlan plan = plan_end(conversation, side);
    const std::uint64_t buffers = plan.data_bytes + plan.receive_bytes * plan.receives;
    if (buffers > left) {
      return tl::unexpected(fmt::format("its requests and messages need buffers of {} MiB, and {} MiB are left",
                                        (buffers >> 20U) + 1, left >> 20U));
    }
    left -= buffers;
  }
  return most - left;
}

}  // namespace roce::replay
