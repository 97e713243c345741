// SPDX-License-Identifier: BSD-2-Clause
#include "wireshark/parts/congestion_statistic.h"

#include <algorithm>
#include <array>
#include <utility>

namespace roce::plugin {

namespace {

constexpr std::array kColumns{TextColumn{"From", 26}, TextColumn{"To", 26}, TextColumn{"Event", 24},
                              TextColumn{"Count", 15, true}};

}  // namespace

CongestionStatistic::CongestionStatistic() : Statistic(kColumns) {}

void CongestionStatistic::clear() {
  Statistic::clear();
  by_key_.clear();
  counts_.clear();
}

std::string CongestionStatistic::name_of(std::uint8_t priority, Event event) {
  switch (event) {
    case Event::ecn_capable:
      return "ECN-capable packets";
    case Event::ce_marks:
      return "CE marks";
    case Event::cnps:
      return "CNPs";
    case Event::while_paused:
      return "Sent while paused";
    case Event::xoff:
    case Event::xon:
    case Event::quanta:
      break;
  }
  std::string name = priority == kPause ? "PAUSE" : "PFC priority " + std::to_string(priority);
  name += event == Event::xoff ? " XOFF" : event == Event::xon ? " XON" : " quanta";
  return name;
}

template <typename Ends>
void CongestionStatistic::add(const Place& from, const Place& to, std::uint8_t priority, Event event,
                              std::uint64_t count, Ends ends) {
  const auto [place, is_new] = by_key_.try_emplace({from, to, priority, event}, rows_.size());
  if (is_new) {
    counts_.push_back(0);
    const std::size_t row = rows_.add();
    const auto [from_text, to_text] = ends();
    rows_.set(row, 0, from_text);
    rows_.set(row, 1, to_text);
    rows_.set(row, 2, name_of(priority, event));
  }
  counts_[place->second] += count;
  rows_.set(place->second, 3, counts_[place->second]);
}

void CongestionStatistic::add_for_pair(const analysis::Observation& seen, Event event) {
  add(seen.source.octets, seen.destination.octets, kNone, event, 1, [&] {
    return std::pair{to_string(seen.source), to_string(seen.destination)};
  });
}

void CongestionStatistic::add_for_station(const analysis::Observation& seen, std::uint8_t priority,
                                          std::uint16_t quanta) {
  Place station{};
  std::ranges::copy(seen.source_mac.octets, station.begin());
  const auto ends = [&] { return std::pair{to_string(seen.source_mac), std::string{"link partner"}}; };
  add(station, {}, priority, quanta != 0 ? Event::xoff : Event::xon, 1, ends);
  if (quanta != 0) add(station, {}, priority, Event::quanta, quanta, ends);
}

void CongestionStatistic::count(const TappedPacket& packet) {
  const analysis::Observation& seen = packet.observation;
  if (seen.kind == PacketKind::pause) return add_for_station(seen, kPause, seen.pause_quanta[0]);
  if (seen.kind == PacketKind::pfc) {
    for (std::uint8_t priority = 0; priority < 8; ++priority) {
      const bool is_enabled = (seen.pause_enabled >> priority & 1U) != 0;
      if (is_enabled) add_for_station(seen, priority, seen.pause_quanta[priority]);
    }
    return;
  }
  // The receiver of a packet with a wrong ICRC ignores it, together with its mark.
  if (seen.kind != PacketKind::roce || packet.icrc == IcrcStatus::bad) return;
  if ((seen.traffic_class & 3U) != 0) add_for_pair(seen, Event::ecn_capable);
  if (seen.is_ce()) add_for_pair(seen, Event::ce_marks);
  if (seen.info().operation == Operation::cnp) add_for_pair(seen, Event::cnps);
  if (packet.facts == nullptr) return;
  for (std::uint32_t i = packet.facts->verdicts; i != 0; i = packet.analysis->verdict(i).next) {
    const analysis::VerdictKind kind = packet.analysis->verdict(i).verdict.kind;
    if (kind == analysis::VerdictKind::sent_while_paused) add_for_pair(seen, Event::while_paused);
  }
}

}  // namespace roce::plugin
