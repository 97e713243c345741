// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replay/conversation.h"
#include "replay/player.h"
#include "roce/transport/counters.h"

namespace roce::replay {

/// A conversation that was played.
struct Played {
  const Conversation* conversation = nullptr;
  Qpn qpn{};  ///< ours
  PlayReport report;
  transport::Counters counters;  ///< of our queue pair
  std::size_t all = 0;           ///< requests and messages
};

/// `10.0.0.1 0x11 ↔ 10.0.0.2 0x12`, as captured.
[[nodiscard]] std::string ends_text(const Conversation& conversation);
/// Prints which connections cannot be done again, and why: lines on standard error, or JSON.
void print_obstacles(const std::vector<Conversation>& conversations, bool json);
/// Prints what could be done again: a table, or a JSON object a line.
void print_plan(const std::vector<const Conversation*>& conversations, bool json);
/// Prints how each conversation went: a table with what differed, or a JSON object a line.
void print_played(const std::vector<Played>& played, bool json);

}  // namespace roce::replay
