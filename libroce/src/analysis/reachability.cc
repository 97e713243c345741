// SPDX-License-Identifier: BSD-2-Clause
#include "roce/analysis/reachability.h"

#include <algorithm>

namespace roce::analysis {

std::optional<ReachNotice> read_reach_notice(const Packet& packet, Time time, PacketId id, std::uint16_t point) {
  ReachNotice notice{limited(time), id, point, {}};
  if (const std::optional<NeighbourMessage> message = read_neighbour_message(packet)) {
    notice.message = *message;
  } else if (const std::optional<IcmpError> error = read_icmp_error(packet)) {
    notice.message = *error;
  } else {
    return std::nullopt;
  }
  return notice;
}

void ReachSurvey::observe(const ReachNotice& notice) {
  std::visit([&](const auto& message) { take(notice, message); }, notice.message);
}

void ReachSurvey::take(const ReachNotice& notice, const NeighbourMessage& message) {
  if (message.is_probe) return;
  const std::pair key{notice.point, message.address};
  auto found = neighbours_.find(key);
  if (found == neighbours_.end()) {
    if (neighbours_.size() == most_) {
      ++uncounted_;
      return;
    }
    found = neighbours_.try_emplace(key).first;
    found->second.summary.point = notice.point;
    found->second.summary.address = message.address;
  }
  if (message.purpose == NeighbourPurpose::question) return take_question(found->second, notice, message);
  NeighbourSummary& summary = found->second.summary;
  summary.questions = summary.in_a_row = found->second.row = 0;
  if (message.purpose == NeighbourPurpose::announcement) {
    ++summary.announcements;
    summary.announced = notice.time;
  }
  if (message.mac == MacAddress{}) return;
  if (summary.mac && *summary.mac != message.mac) {
    summary.before = summary.mac;
    summary.moved = notice.time;
  }
  summary.mac = message.mac;
}

void ReachSurvey::take_question(Neighbour& neighbour, const ReachNotice& notice, const NeighbourMessage& message) {
  NeighbourSummary& summary = neighbour.summary;
  const bool goes_on = summary.questions != 0 && summary.asker == message.sender &&
                       notice.time - summary.latest <= NeighbourSummary::kInARow;
  neighbour.row = goes_on ? neighbour.row + 1 : 1;
  summary.in_a_row = std::max(summary.in_a_row, neighbour.row);
  if (summary.questions++ == 0) summary.since = notice.time;
  summary.latest = notice.time;
  summary.asker = message.sender;
}

void ReachSurvey::take(const ReachNotice& notice, const IcmpError& error) {
  const std::tuple key{notice.point, error.source, error.destination, error.why};
  auto found = errors_.find(key);
  if (found == errors_.end()) {
    if (errors_.size() == most_) {
      ++uncounted_;
      return;
    }
    found = errors_.try_emplace(key).first;
    IcmpErrorSummary& summary = found->second;
    std::tie(summary.point, summary.source, summary.destination, summary.why) = key;
    summary.reporter = error.reporter;
    summary.first = notice.id;
    summary.since = notice.time;
    summary.least = error.size;
  }
  IcmpErrorSummary& summary = found->second;
  ++summary.count;
  summary.latest = notice.time;
  summary.least = std::min(summary.least, error.size);
  if (error.mtu != 0) summary.mtu = summary.mtu == 0 ? error.mtu : std::min(summary.mtu, error.mtu);
}

std::vector<NeighbourSummary> ReachSurvey::neighbours() const {
  std::vector<NeighbourSummary> all;
  all.reserve(neighbours_.size());
  for (const auto& [key, neighbour] : neighbours_) all.push_back(neighbour.summary);
  return all;
}

std::vector<IcmpErrorSummary> ReachSurvey::errors() const {
  std::vector<IcmpErrorSummary> all;
  all.reserve(errors_.size());
  for (const auto& [key, error] : errors_) all.push_back(error);
  return all;
}

}  // namespace roce::analysis
