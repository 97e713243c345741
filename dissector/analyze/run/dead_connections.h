// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyze/run/summary_statements.h"

namespace roce::analyze {

/// The end of a connection whose last request was not answered.
enum class ConnectionEnd : std::uint8_t {
  unknown,         ///< nothing can be said: the capture ended too soon
  died,            ///< its requester gave up, since nobody answered
  refused_by_rnr,  ///< its requester gave up after RNR NAKs
  unanswered,      ///< its requester may still go on: the capture ended too soon
  died_or_unseen,  ///< its requester gave up, or the capture lacks only the answers
  last_unanswered  ///< an answer to its last request was due, and none reached the requester, as far as is seen
};

/// A connection that ended with an unanswered request.
struct DeadConnection {
  ConnectionEnd end{};
  std::uint32_t stream = 0;
  Gid requester{};
  Gid responder{};
  Time since{};            ///< of the first try of the request that nothing answered
  Time latest{};           ///< of its latest try
  bool is_silent = false;  ///< nothing answered the request, not even a NAK
  std::string text;        ///< who was silent, since when, how many tries, and what follows from their times
};

/// Returns the connections that ended with an unanswered request, except those of which nothing can be said.
[[nodiscard]] std::vector<DeadConnection> find_dead_connections(const JudgedPart& part);

/// The time at which each host was last heard, on any of its connections.
using HeardHosts = std::map<Gid, Time>;

[[nodiscard]] HeardHosts heard_hosts(const JudgedPart& part);

/// Says which host the connections that nobody answered any more have in common, if several hosts had such connections
/// with it, they fell silent within a second, and nothing came from the host after the latest try of any; nothing
/// otherwise.
[[nodiscard]] std::optional<std::string> common_host_text(std::span<const DeadConnection> dead,
                                                          const HeardHosts& heard);

}  // namespace roce::analyze
