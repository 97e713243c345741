// SPDX-License-Identifier: BSD-2-Clause
#include "roce/analysis/fan_in.h"

#include <algorithm>
#include <tuple>

namespace roce::analysis {

namespace {

constexpr Qpn kGsiQp{1};

[[nodiscard]] bool is_load(const Observation& packet) {
  return packet.kind == PacketKind::roce && !packet.icrc_bad && packet.payload_length != 0 &&
         packet.dest_qp != kGsiQp && packet.info().operation != Operation::cnp;
}

[[nodiscard]] Time window_start(Time time, Duration window) {
  const Duration since = time.time_since_epoch();
  Duration into = since % window;
  if (into < Duration::zero()) into += window;
  return Time{since - into};
}

}  // namespace

FanInLoad& FanInLoad::operator+=(const FanInLoad& other) {
  windows += other.windows;
  bytes += other.bytes;
  marked += other.marked;
  lost += other.lost;
  return *this;
}

FanInLoad FanInSummary::from(std::size_t least) const {
  FanInLoad sum;
  for (std::size_t level = std::max<std::size_t>(least, 1) - 1; level < levels.size(); ++level) sum += levels[level];
  return sum;
}

void FanInSurvey::Destination::add_window_to(FanInSummary& sum) const {
  if (window.senders == 0) return;
  if (sum.levels.size() < window.senders) sum.levels.resize(window.senders);
  sum.levels[window.senders - 1] += load;
  if (window.senders > sum.fullest.senders) sum.fullest = window;
  if (window.bytes > sum.busiest.bytes) sum.busiest = window;
}

const FanInSurvey::Found* FanInSurvey::find(const Observation& packet) {
  const auto number = static_cast<std::size_t>(packet.source.octets.back() ^ (packet.destination.octets.back() << 3U));
  Found& recent = recent_[number % kRecent];
  if (recent.destination != nullptr && recent.source == packet.source && recent.key.first == packet.point &&
      recent.key.second == packet.destination) {
    return &recent;
  }
  const Key key{packet.point, packet.destination};
  auto found = destinations_.find(key);
  const bool is_known = found != destinations_.end() && found->second.senders.contains(packet.source);
  if (!is_known && pairs_ == most_pairs_) return nullptr;
  if (!is_known) ++pairs_;
  if (found == destinations_.end()) found = destinations_.try_emplace(key).first;
  recent = {key, packet.source, &found->second, &found->second.senders[packet.source]};
  return &recent;
}

void FanInSurvey::observe(const Observation& packet, std::uint32_t lost) {
  if (!is_load(packet)) {
    if (lost == 0 && remembered_.empty()) return;
    Destination* const destination = known(packet);
    if (destination == nullptr) return;
    destination->load.lost += lost;
    remember(packet.id, *destination, nullptr);
    return;
  }
  const Found* const found = find(packet);
  if (found == nullptr) {
    ++uncounted_;
    return;
  }
  Destination& destination = *found->destination;
  Sender& sender = *found->sender;
  const Time start = window_start(packet.time, window_);
  if (destination.window_number == 0 || start != destination.window.start) {
    destination.add_window_to(destination.past);
    if (!remembered_.empty() && destination.window_number != 0) {
      if (destination.latest.size() < kLatest) destination.latest.resize(destination.window_number % kLatest + 1);
      destination.latest[destination.window_number % kLatest] = destination.window.senders;
    }
    destination.window = {.start = start, .first = packet.id};
    destination.load = {.windows = 1};
    ++destination.window_number;
  }
  if (sender.last_window != destination.window_number) {
    sender.last_window = destination.window_number;
    ++sender.load.windows;
    ++destination.window.senders;
  }
  destination.window.bytes += packet.wire_length;
  const FanInLoad load{.bytes = packet.wire_length, .marked = packet.is_ce() ? 1U : 0U, .lost = lost};
  destination.load += load;
  sender.load += load;
  remember(packet.id, destination, &sender);
}

FanInSurvey::Destination* FanInSurvey::known(const Observation& packet) {
  Known& recent = recent_known_[packet.destination.octets.back() % kRecent];
  const bool is_same = recent.key.first == packet.point && recent.key.second == packet.destination;
  // Only a new destination makes one known that was not.
  if (is_same && (recent.destination != nullptr || recent.of == destinations_.size())) return recent.destination;
  const auto found = destinations_.find({packet.point, packet.destination});
  recent = {{packet.point, packet.destination},
            found == destinations_.end() ? nullptr : &found->second,
            destinations_.size()};
  return recent.destination;
}

void FanInSurvey::remember(PacketId packet, Destination& destination, Sender* sender) {
  if (remembered_.empty()) return;
  remembered_[packet.frame % remembered_.size()] = {packet, &destination, sender, destination.window_number};
}

void FanInSurvey::lose(PacketId packet, std::uint32_t lost) {
  const Remembered* const found = remembered_.empty() ? nullptr : &remembered_[packet.frame % remembered_.size()];
  if (found == nullptr || found->destination == nullptr || found->packet.frame != packet.frame) {
    unplaced_ += lost;
    return;
  }
  Destination& destination = *found->destination;
  const std::uint64_t ago = destination.window_number - found->window_number;
  if (ago >= kLatest) {
    unplaced_ += lost;
    return;
  }
  FanInLoad& load =
      ago == 0 ? destination.load : destination.past.levels[destination.latest[found->window_number % kLatest] - 1];
  load.lost += lost;
  if (found->sender != nullptr) found->sender->load.lost += lost;
}

std::vector<FanInSummary> FanInSurvey::summaries() const {
  std::vector<FanInSummary> all;
  all.reserve(destinations_.size());
  for (const auto& [key, open] : destinations_) {
    FanInSummary& summary = all.emplace_back(open.past);
    open.add_window_to(summary);
    std::tie(summary.point, summary.destination) = key;
    summary.senders.reserve(open.senders.size());
    for (const auto& [source, sender] : open.senders) summary.senders.push_back({source, sender.load});
    std::ranges::stable_sort(summary.senders, std::ranges::greater{},
                             [](const FanInSender& sender) { return sender.load.bytes; });
  }
  return all;
}

}  // namespace roce::analysis
