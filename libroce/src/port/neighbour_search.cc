// SPDX-License-Identifier: BSD-2-Clause
#include "port/neighbour_search.h"

#include <chrono>

namespace roce::port {
namespace {

using namespace std::chrono_literals;

// RFC 4861, 10: RETRANS_TIMER, MAX_MULTICAST_SOLICIT and MAX_UNICAST_SOLICIT, REACHABLE_TIME, DELAY_FIRST_PROBE_TIME.
constexpr Duration kRetry = 1s;
constexpr unsigned kTries = 3;
constexpr Duration kFresh = 30s;
constexpr Duration kUnconfirmed = 5s;
constexpr Duration kPause = 5s;

}  // namespace

void NeighbourSearch::schedule(const Gid& ip, Neighbour& neighbour, Time time) {
  due_.erase({neighbour.next, ip});
  neighbour.next = time;
  due_.emplace(time, ip);
}

std::optional<MacAddress> NeighbourSearch::find(const Gid& ip, const Gid& next_hop, Time now) {
  const auto [entry, is_new] = neighbours_.try_emplace(next_hop);
  entry->second.used_for.insert(ip);
  if (is_new) schedule(next_hop, entry->second, now);
  return entry->second.mac;
}

std::optional<MacAddress> NeighbourSearch::mac_of(const Gid& neighbour) const {
  const auto entry = neighbours_.find(neighbour);
  return entry != neighbours_.end() ? entry->second.mac : std::nullopt;
}

void NeighbourSearch::learn(const Gid& neighbour, const MacAddress& mac, bool answers, Time now) {
  const auto found = neighbours_.find(neighbour);
  // A group's address, or a zero address, cannot be that of a host.
  if (found == neighbours_.end() || (mac.octets[0] & 1) != 0 || mac == MacAddress{}) return;
  Neighbour& entry = found->second;
  const bool is_news = entry.mac != mac;
  if (!is_news && !answers) return;
  entry.mac = mac;
  entry.tries = 0;
  entry.is_fresh = true;
  schedule(neighbour, entry, now + (answers ? kFresh : kUnconfirmed));
  if (!is_news) return;
  for (const Gid& ip : entry.used_for) found_.push_back({ip, mac});
}

// NET-19 (a neighbour is asked for each second, three times in a row, and confirmed after 30 s)
std::vector<NeighbourSearch::Question> NeighbourSearch::due(Time now) {
  std::vector<Question> questions;
  while (next_timeout() <= now) {
    const Gid ip = due_.begin()->second;
    Neighbour& neighbour = neighbours_.at(ip);
    if (neighbour.is_fresh) {
      neighbour.is_fresh = false;
      neighbour.tries = 0;
    } else if (neighbour.tries == kTries && neighbour.mac) {
      // Another host may have the address by now, so all hosts are asked.
      neighbour.mac.reset();
      neighbour.tries = 0;
    } else if (neighbour.tries == kTries) {
      neighbour.tries = 0;
      schedule(ip, neighbour, now + kPause);
      continue;
    }
    ++neighbour.tries;
    schedule(ip, neighbour, now + kRetry);
    questions.push_back({ip, neighbour.mac});
  }
  return questions;
}

}  // namespace roce::port
