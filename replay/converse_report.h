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
/// Our queue pair, for whoever has to tell the peer.
void print_queue_pair(const Conversation& conversation, Qpn qpn, Psn psn, const Gid& gid, bool json);
/// Where our memory is that the capture has elsewhere.
void print_memory(const Conversation& conversation, const CapturedRegion& captured, const LivePlace& place, bool json);
/// All requests and the memory that they are about, as JSON objects.
void print_details(const Conversation& conversation);

[[nodiscard]] std::string ends_text(const Conversation& conversation);
/// Prints which connections cannot be done again, and why: lines on standard error, or JSON.
void print_obstacles(const std::vector<Conversation>& conversations, bool json);
/// Prints what could be done again: a table, or a JSON object a line.
void print_plan(const std::vector<const Conversation*>& conversations, bool json);
/// Prints how each conversation went: a table with what differed, or a JSON object a line.
void print_played(const std::vector<Played>& played, bool json);

}  // namespace roce::replay
