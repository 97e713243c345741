// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replay/converse/conversation.h"
#include "replay/converse/player.h"
#include "roce/transport/counters.h"

namespace roce::replay {

/// A conversation that was played.
struct Played {
  const Conversation* conversation = nullptr;
  Qpn qpn{};  ///< our queue pair
  PlayReport report;
  transport::Counters counters;  ///< counters of our queue pair
  std::size_t all = 0;           ///< number of all requests and messages
};

/// Bound on what is printed about a capture, however much its contents ask for.
class OutputLimit {
 public:
  explicit OutputLimit(std::uint64_t bytes) : left_(bytes) {}

  /// Reserves `bytes`; false if fewer are left, and the output is to be left out.
  [[nodiscard]] bool take(std::uint64_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }

 private:
  std::uint64_t left_;
};

/// Prints our queue pair, so that the peer can be told.
void print_queue_pair(const Conversation& conversation, Qpn qpn, Psn psn, const Gid& gid, bool json);
/// Prints where our memory is, together with its captured place.
void print_memory(const Conversation& conversation, const CapturedRegion& captured, const LivePlace& place, bool json);
/// Prints all requests and the memory that they are about, as JSON objects; memory of up to `memory` bytes. Returns
/// false if the limit left them out, which is then reported.
[[nodiscard]] bool print_details(const Conversation& conversation, std::uint64_t memory, OutputLimit& limit);

/// Returns `10.0.0.1 0x11 ↔ 10.0.0.2 0x12`, as captured.
[[nodiscard]] std::string ends_text(const Conversation& conversation);
/// Prints which connections cannot be played again, and why: lines on standard error, or JSON. False: as for details.
[[nodiscard]] bool print_obstacles(const std::vector<Conversation>& conversations, bool json, OutputLimit& limit);
/// Reports how many connections were not read for want of memory; prints nothing if there are none.
void print_left_out(std::uint64_t connections, bool json);
/// Prints what could be played again: a table, or a JSON object a line. False: as for details.
[[nodiscard]] bool print_plan(const std::vector<const Conversation*>& conversations, bool json, OutputLimit& limit);
/// Prints how each conversation went: a table with the differences, or a JSON object a line.
void print_played(const std::vector<Played>& played, bool json);

}  // namespace roce::replay
