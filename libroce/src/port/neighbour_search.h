// SPDX-License-Identifier: BSD-2-Clause
// Which neighbours are asked for on the wire, and when.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "roce/wire/time.h"
#include "roce/wire/types.h"

namespace roce::port {

/// The hosts and routers on the own network whose Ethernet addresses are wanted. Those that do not answer are asked for
/// as long as the object lives.
class NeighbourSearch {
 public:
  /// A question for the wire: to `mac`, whether `ip` is still there; without `mac`, to everybody, where `ip` is.
  struct Question {
    Gid ip{};
    std::optional<MacAddress> mac{};
  };
  /// A result: frames to `ip` go to `mac`.
  struct Found {
    Gid ip{};
    MacAddress mac{};
  };

  /// Returns the address of the neighbour `next_hop`, by which `ip` is reached; if it is unknown, begins to search.
  [[nodiscard]] std::optional<MacAddress> find(const Gid& ip, const Gid& next_hop, Time now);
  /// Takes the address that `neighbour` gave, in answer to a question or by itself. Does nothing if it is not wanted.
  void learn(const Gid& neighbour, const MacAddress& mac, bool answers, Time now);
  /// Returns the address of a neighbour, if it is known.
  [[nodiscard]] std::optional<MacAddress> mac_of(const Gid& neighbour) const;

  /// Returns the questions that have to be asked now.
  [[nodiscard]] std::vector<Question> due(Time now);
  [[nodiscard]] Time next_timeout() const { return due_.empty() ? kNever : due_.begin()->first; }

  /// Returns what has become known or has changed since the last call.
  [[nodiscard]] std::vector<Found> take_found() { return std::exchange(found_, {}); }
  [[nodiscard]] bool has_found() const { return !found_.empty(); }

 private:
  struct Neighbour {
    std::optional<MacAddress> mac{};
    unsigned tries = 0;  ///< questions in a row without an answer
    bool is_fresh = false;
    Time next{};             ///< its place in `due_`
    std::set<Gid> used_for;  ///< the addresses that are reached by it
  };

  void schedule(const Gid& ip, Neighbour& neighbour, Time time);

  std::map<Gid, Neighbour> neighbours_;
  std::set<std::pair<Time, Gid>> due_;
  std::vector<Found> found_;
};

}  // namespace roce::port
