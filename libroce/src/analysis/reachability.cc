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

ReachSurvey::Neighbour* ReachSurvey::find_neighbour(std::uint16_t point, const Gid& address) {
  const std::pair key{point, address};
  auto found = neighbours_.find(key);
  if (found == neighbours_.end()) {
    if (neighbours_.size() == most_) return nullptr;
    found = neighbours_.try_emplace(key).first;
    found->second.summary.point = point;
    found->second.summary.address = address;
  }
  return &found->second;
}

void ReachSurvey::hear(Neighbour& neighbour, Time now) {
  neighbour.summary.longest_row = neighbour.row = {};
  neighbour.summary.heard = now;
}

void ReachSurvey::take(const ReachNotice& notice, const NeighbourMessage& message) {
  if (message.is_probe) return;
  Neighbour* const neighbour = find_neighbour(notice.point, message.address);
  if (neighbour == nullptr) {
    ++uncounted_;
    return;
  }
  if (message.purpose == NeighbourPurpose::question) {
    take_question(*neighbour, notice, message);
    if (Neighbour* const asker = find_neighbour(notice.point, message.sender)) hear(*asker, notice.time);
    return;
  }
  hear(*neighbour, notice.time);
  NeighbourSummary& summary = neighbour->summary;
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
  NeighbourQuestions& row = neighbour.row;
  const bool goes_on =
      row.count != 0 && row.asker == message.sender && notice.time - row.end <= NeighbourSummary::kInARow;
  if (!goes_on) row = {0, message.sender, notice.time, notice.time};
  ++row.count;
  row.end = notice.time;
  if (row.count >= neighbour.summary.longest_row.count) neighbour.summary.longest_row = row;
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
