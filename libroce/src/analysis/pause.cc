// SPDX-License-Identifier: BSD-2-Clause
// Priority flow control: how long each priority of a link was paused, and who sent in that time.
#include "roce/analysis/pause.h"

#include <algorithm>
#include <cstring>

#include "analysis/heuristics.h"
#include "analysis/state_archive.h"

namespace roce::analysis {

namespace {

constexpr std::uint64_t kBitsPerQuantum = 512;
constexpr std::uint64_t kFastestLink = 800'000'000'000;
constexpr std::uint64_t kSlowestLink = 10'000'000'000;

bool is_pause(const Observation& packet) {
  return packet.kind == PacketKind::pfc || packet.kind == PacketKind::pause;
}

// Returns a number by which addresses are compared at once, which each packet of a capture needs four times.
std::uint64_t number_of(const MacAddress& address) {
  std::uint64_t number = 0;
  std::memcpy(&number, address.octets.data(), address.octets.size());
  return number;
}

// Returns the time from `counted` to the end of the pause, or to `now` if that is earlier.
Duration uncounted(Time counted, Time end, Time now) {
  return std::max(std::min(end, now) - counted, Duration{});
}

// Saturates, because clocks that jump make any number of long times.
Duration saturating_sum(Duration a, Duration b) {
  return a > Duration::max() - b ? Duration::max() : a + b;
}

}  // namespace

Verdict breach_verdict(const Observation& packet, const PauseBreach& breach, std::uint32_t stream) {
  Verdict verdict;
  verdict.kind = VerdictKind::sent_while_paused;
  verdict.rule = Rule::pause;
  verdict.point = packet.point;
  verdict.stream = stream;
  verdict.packet = packet.id;
  verdict.other = breach.xoff;
  verdict.time = packet.time;
  verdict.first_psn = packet.psn;
  verdict.elapsed = breach.elapsed;
  return verdict;
}

Duration PauseTracker::time_of(std::uint64_t quanta, std::uint64_t assumed_speed) const {
  const std::uint64_t speed = options_.link_bits_per_second != 0 ? options_.link_bits_per_second : assumed_speed;
  constexpr std::uint64_t kSecond = 1'000'000'000;
  return Duration{static_cast<Duration::rep>(quanta * kBitsPerQuantum * kSecond / speed)};
}

std::optional<PauseBreach> PauseTracker::observe(const Observation& packet) {
  if (packet.point >= links_.size()) links_.resize(packet.point + std::size_t{1});
  Link& link = links_[packet.point];
  link.latest = std::max(link.latest.value_or(packet.time), packet.time);
  if (is_pause(packet)) {
    on_pause(packet);
    return std::nullopt;
  }
  if (packet.kind != PacketKind::roce || packet.destination_mac == MacAddress{}) return std::nullopt;
  follow_link(link, packet);
  if (stations_.empty()) return std::nullopt;
  if (std::find(link.common_ends.begin(), link.common_ends.end(), packet.destination_mac) == link.common_ends.end()) {
    return std::nullopt;
  }
  const auto found = stations_.find({packet.point, packet.destination_mac});
  if (found == stations_.end()) return std::nullopt;
  learn_host(found->second.summary, packet.destination);
  const std::array<Pause, 9>& pauses = found->second.pauses;
  // A-PFC-3 (without a VLAN tag the priority is unknown): it depends on how the hosts are set up.
  if (packet.link_priority < PauseSummary::kAll) {
    if (const auto breach = check(pauses[packet.link_priority], packet.time)) return breach;
  }
  return check(pauses[PauseSummary::kAll], packet.time);
}

// A-PFC-2 (a pause holds for one link, and for its partner after the time that it may need to stop)
std::optional<PauseBreach> PauseTracker::check(const Pause& pause, Time now) const {
  const Duration allowance = time_of(heuristics::kStopQuanta, kSlowestLink) + heuristics::kStopTime;
  if (!pause.active || now >= pause.end || now - pause.xoff_time <= allowance) return std::nullopt;
  return PauseBreach{pause.xoff, now - pause.xoff_time};
}

void PauseTracker::follow_link(Link& link, const Observation& packet) {
  if (!link.has_ends) {
    link.has_ends = true;
    link.common_ends = {packet.source_mac, packet.destination_mac};
    return;
  }
  const std::uint64_t source = number_of(packet.source_mac);
  const std::uint64_t destination = number_of(packet.destination_mac);
  for (std::optional<MacAddress>& end : link.common_ends) {
    if (!end) continue;
    const std::uint64_t number = number_of(*end);
    if (number != source && number != destination) end.reset();
  }
}

void PauseTracker::on_pause(const Observation& packet) {
  const std::pair key{packet.point, packet.source_mac};
  auto found = stations_.find(key);
  if (found == stations_.end()) {
    if (stations_.size() >= options_.stations) {
      ++uncounted_frames_;
      return;
    }
    found = stations_.emplace(key, Station{}).first;
    found->second.summary.point = packet.point;
    found->second.summary.source = packet.source_mac;
    found->second.summary.first = packet.id;
  }
  Station& station = found->second;
  ++station.summary.frames;
  station.summary.last = packet.id;
  if (packet.kind == PacketKind::pause) {
    apply(station, PauseSummary::kAll, packet, packet.pause_quanta[0]);
    return;
  }
  for (std::size_t priority = 0; priority < packet.pause_quanta.size(); ++priority) {
    if ((packet.pause_enabled >> priority & 1U) != 0) apply(station, priority, packet, packet.pause_quanta[priority]);
  }
}

void PauseTracker::learn_host(PauseSummary& station, const Gid& host) {
  if (station.has_several || station.host == host) return;
  station.has_several = station.host.has_value();
  station.host = station.has_several ? std::nullopt : std::optional{host};
}

void PauseTracker::follow_run(Run& run, PauseRun& longest, const Observation& packet, Duration timer) {
  const Time now = packet.time;
  if (run.frames == 0 || now > run.end) run = {.begin = now, .first = packet.id};
  ++run.frames;
  // It is never later than a saved state can hold.
  run.end = std::min(now + timer, Time{Duration{kFarthest}});
  if (now - run.begin > longest.length) longest = {now - run.begin, run.frames, run.begin, run.first};
}

// An XON that comes after the timer ran out ends nothing.
void PauseTracker::end_run(Run& run, PauseRun& longest, Time now) {
  if (run.frames != 0 && now <= run.end && now - run.begin > longest.length) {
    longest = {now - run.begin, run.frames, run.begin, run.first};
  }
  run.frames = 0;
}

// A-PFC-1 (a timer counts in units of 512 bit times and replaces the one before; 0 ends the pause)
void PauseTracker::apply(Station& station, std::size_t priority, const Observation& packet, std::uint16_t quanta) {
  PauseCounts& counts = station.summary.counts[priority];
  Pause& pause = station.pauses[priority];
  if (options_.link_bits_per_second != 0) {
    counts.paused =
        saturating_sum(counts.paused.value_or(Duration{}), uncounted(pause.counted, pause.end, packet.time));
  }
  const bool was_over = !pause.active || packet.time >= pause.end;
  // The newest timer replaces what is left of the one before.
  pause.counted = packet.time;
  // It is never later than a saved state can hold.
  pause.end = std::min(packet.time + time_of(quanta, kFastestLink), Time{Duration{kFarthest}});
  if (quanta == 0) {
    ++counts.xon;
    end_run(pause.run, counts.longest_run, packet.time);
    end_run(pause.sure_run, counts.sure_run, packet.time);
    if (!pause.active) return;
    const Duration lasted = std::max(packet.time - pause.begin, Duration{});
    ++counts.ended;
    counts.xoff_to_xon = saturating_sum(counts.xoff_to_xon, lasted);
    counts.longest_until_xon = std::max(counts.longest_until_xon, lasted);
    pause.active = false;
    return;
  }
  follow_run(pause.run, counts.longest_run, packet, time_of(quanta, kSlowestLink));
  follow_run(pause.sure_run, counts.sure_run, packet, time_of(quanta, kFastestLink));
  ++counts.xoff;
  counts.quanta += quanta;
  if (!pause.active) {
    pause.active = true;
    pause.begin = packet.time;
  }
  if (was_over) {
    pause.xoff = packet.id;
    pause.xoff_time = packet.time;
  }
}

std::vector<PauseSummary> PauseTracker::summaries() const {
  std::vector<PauseSummary> all;
  for (const auto& [key, station] : stations_) {
    const Time latest = *links_[key.first].latest;
    PauseSummary& summary = all.emplace_back(station.summary);
    for (std::size_t i = 0; i < summary.counts.size(); ++i) {
      std::optional<Duration>& paused = summary.counts[i].paused;
      const Pause& pause = station.pauses[i];
      if (paused) paused = saturating_sum(*paused, uncounted(pause.counted, pause.end, latest));
    }
  }
  return all;
}

}  // namespace roce::analysis
