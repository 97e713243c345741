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

/// What may be printed of a capture, however large what it asks for is.
class OutputLimit {
 public:
  explicit OutputLimit(std::uint64_t bytes) : left_(bytes) {}

  /// Whether so many bytes may be printed; they are left out otherwise.
  [[nodiscard]] bool take(std::uint64_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }

 private:
  std::uint64_t left_;
};

/// Our queue pair, for whoever has to tell the peer.
void print_queue_pair(const Conversation& conversation, Qpn qpn, Psn psn, const Gid& gid, bool json);
/// Where our memory is that the capture has elsewhere.
void print_memory(const Conversation& conversation, const CapturedRegion& captured, const LivePlace& place, bool json);
/// All requests and the memory that they are about, as JSON objects; of memory up to `memory` bytes. False: the limit
/// left them out, and it was said.
[[nodiscard]] bool print_details(const Conversation& conversation, std::uint64_t memory, OutputLimit& limit);

/// `10.0.0.1 0x11 ↔ 10.0.0.2 0x12`, as captured.
[[nodiscard]] std::string ends_text(const Conversation& conversation);
/// Prints which connections cannot be done again, and why: lines on standard error, or JSON. False: as for details.
[[nodiscard]] bool print_obstacles(const std::vector<Conversation>& conversations, bool json, OutputLimit& limit);
/// Says how many connections were not looked at, for want of memory; nothing where there are none.
void print_left_out(std::uint64_t connections, bool json);
/// Prints what could be done again: a table, or a JSON object a line. False: as for details.
[[nodiscard]] bool print_plan(const std::vector<const Conversation*>& conversations, bool json, OutputLimit& limit);
/// Prints how each conversation went: a table with what differed, or a JSON object a line.
void print_played(const std::vector<Played>& played, bool json);

}  // namespace roce::replay
