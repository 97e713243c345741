// SPDX-License-Identifier: BSD-2-Clause
#include "roce/analysis/waits.h"

#include <algorithm>
#include <numeric>

namespace roce::analysis {

namespace {

/// Packets no farther apart are sent without a wait, whatever the rate.
constexpr Duration kAtOnce{200};
/// The same where the capture's clock counts microseconds.
constexpr Duration kCoarseAtOnce{1'500};
/// The same as long as no burst has shown the rate.
constexpr Duration kBeforeAnyBurst{5'000};
/// A gap between packets that is so many times as long as in the fastest burst is a wait, and no jitter.
constexpr double kSlower = 2;
/// More nanoseconds than any capture has.
constexpr double kLongest = 9e18;
/// An answer makes a requester send within this, or within a quarter of the time that it waited.
constexpr Duration kReaction{2'000};
/// A CNP bears on the rate until so many packets in a row follow each other as fast as ever, and no longer than this. A
/// card that keeps a rate may send in bursts of its own.
constexpr unsigned kFastAgain = 64;
constexpr Duration kCnpEffect{1'000'000'000};
/// Pauses of more stations on one link than these are not followed: a link has two.
constexpr std::size_t kMostStations = 8;
constexpr std::uint64_t kAssumedLink = 100'000'000'000;
constexpr std::int64_t kQuantumBits = 512;

[[nodiscard]] const Verdict* said_of(const PacketAnalysis& analysis, VerdictKind kind) {
  const auto found = std::ranges::find(analysis.verdicts, kind, &Verdict::kind);
  return found == analysis.verdicts.end() ? nullptr : &*found;
}

}  // namespace

std::string_view to_string(WaitFor wait) {
  static constexpr std::array<std::string_view, kWaits> kNames{
      "nothing", "link", "answers", "application", "credits", "receiver", "losses", "pauses", "rate", "host"};
  return kNames[static_cast<std::size_t>(wait)];
}

Duration WaitSummary::all() const {
  return std::accumulate(times.begin(), times.end(), Duration::zero());
}

void WaitSurvey::Burst::add(Time time, std::uint32_t length) {
  auto& oldest = last[count % kPackets];
  if (count >= kPackets && time > oldest.first) {
    const double ns_a_byte = static_cast<double>((time - oldest.first).count()) / static_cast<double>(bytes);
    if (least_ns_a_byte == 0 || ns_a_byte < least_ns_a_byte) least_ns_a_byte = ns_a_byte;
  }
  bytes += length;
  bytes -= oldest.second;
  oldest = {time, length};
  ++count;
}

void WaitSurvey::Requester::on_cnp(Time time) {
  last_cnp = time;
  fast = 0;
}

void WaitSurvey::Recent::add(WaitFor wait, Duration time) {
  if (time <= Duration::zero()) return;
  if (!parts_.empty() && parts_.back().wait == wait) {
    parts_.back().time += time;
    return;
  }
  parts_.push_back({wait, time});
  if (parts_.size() <= kMost) return;
  Times times{};
  for (const Part& part : parts_) times[static_cast<std::size_t>(part.wait)] += part.time;
  parts_.clear();
  for (std::size_t each = 0; each < kWaits; ++each) add(static_cast<WaitFor>(each), times[each]);
}

void WaitSurvey::Recent::lose(WaitFor recovery) {
  const std::vector<Part> before = std::exchange(parts_, {});
  for (const Part& part : before) add(part.wait == WaitFor::nothing ? part.wait : recovery, part.time);
}

void WaitSurvey::Requester::progress(WaitTaker* taker) {
  for (const Recent::Part& part : recent.parts()) {
    sum.times[static_cast<std::size_t>(part.wait)] += part.time;
    const Time begin = std::exchange(progressed, progressed + part.time);
    if (taker != nullptr) taker->take(WaitSpan{sum.stream, sum.direction, part.wait, begin, progressed});
  }
  recent.clear();
}

void WaitSurvey::Requester::end(WaitTaker* taker) {
  recent.add(is_recovering ? recovery() : WaitFor::answers, deferred);
  deferred = {};
  progress(taker);
}

void WaitSurvey::Requester::integrate(Duration time) {
  psn_ns += static_cast<double>(next - answered) * static_cast<double>(time.count());
  open_time += time;
}

void WaitSurvey::Requester::add_earlier(const Requester& earlier) {
  sum.requests += earlier.sum.requests;
  sum.resent += earlier.sum.resent;
  sum.payload += earlier.sum.payload;
  for (std::size_t wait = 0; wait < kWaits; ++wait) sum.times[wait] += earlier.sum.times[wait];
}

WaitSurvey::WaitSurvey(std::uint64_t link_bits_per_second, std::size_t most_requesters, WaitTaker* taker)
    : link_bits_per_second_(link_bits_per_second), most_(most_requesters), taker_(taker) {}

void WaitSurvey::note_under_way(Requester& requester, Time time) {
  requester.sum.most_under_way = std::max(requester.sum.most_under_way, requester.under_way());
  const std::uint64_t now = requester.awaited();
  if (now == requester.counted) return;
  under_way_ += now - requester.counted;
  requester.counted = now;
  if (taker_ == nullptr) return;
  taker_->take(UnderWay{requester.sum.stream, requester.sum.direction, time, now, under_way_});
}

void WaitSurvey::observe(const Observation& packet, const PacketAnalysis& analysis) {
  has_nanoseconds_ = has_nanoseconds_ || packet.time.time_since_epoch() % Duration{1000} != Duration::zero();
  if (packet.pause_enabled != 0) on_pause(packet);
  sender_ = nullptr;
  if (packet.kind == PacketKind::roce) follow_link(packet);
  if (analysis.absorbed != kNoStream) absorb(analysis.absorbed, analysis.stream);
  if (analysis.stream == kNoStream || packet.icrc_bad || said_of(analysis, VerdictKind::duplicate) != nullptr) return;
  const Key other{analysis.stream, static_cast<std::uint8_t>(1 - analysis.direction)};
  switch (analysis.role) {
    case PacketRole::request:
      if (packet.info().service == Service::uc) return;
      if (Requester* const found = find({analysis.stream, analysis.direction}, packet, true)) {
        on_request(*found, packet, analysis);
      }
      return;
    case PacketRole::response:
      if (Requester* const found = find(other, packet, false)) on_response(*found, packet, analysis);
      return;
    case PacketRole::cnp:
      if (Requester* const found = find(other, packet, false)) {
        found->on_cnp(packet.time);
      } else if (early_cnps_.size() < most_) {
        early_cnps_[other] = packet.time;
      }
      return;
    case PacketRole::other:
    case PacketRole::datagram:
    case PacketRole::management:
      return;
  }
}

WaitSurvey::Requester* WaitSurvey::known(Key key) {
  auto& [recent, requester] = recent_requesters_[(key.first * 2 + key.second) % recent_requesters_.size()];
  if (requester != nullptr && recent == key) return requester;
  const auto found = requesters_.find(key);
  if (found == requesters_.end()) return nullptr;
  recent = key;
  return requester = &found->second;
}

WaitSurvey::Requester* WaitSurvey::find(Key key, const Observation& packet, bool is_request) {
  if (Requester* const found = known(key)) return found;
  if (!is_request) return nullptr;
  if (requesters_.size() == most_) {
    ++uncounted_;
    return nullptr;
  }
  Requester& made = requesters_[key];
  made.sum.stream = key.first;
  made.sum.direction = key.second;
  made.sum.point = packet.point;
  made.sum.source = packet.source;
  made.sum.destination = packet.destination;
  made.sum.dest_qp = packet.dest_qp;
  made.station = packet.source_mac;
  made.latest = made.progressed = packet.time;
  if (const auto early = early_cnps_.extract(key)) made.on_cnp(early.mapped());
  return &made;
}

void WaitSurvey::absorb(std::uint32_t from, std::uint32_t into) {
  recent_requesters_ = {};
  for (const std::uint8_t direction : {std::uint8_t{0}, std::uint8_t{1}}) {
    const Key key{into, static_cast<std::uint8_t>(1 - direction)};
    if (auto node = requesters_.extract({from, direction})) {
      node.key() = key;
      node.mapped().sum.stream = key.first;
      node.mapped().sum.direction = key.second;
      auto kept = requesters_.insert(std::move(node));
      if (!kept.inserted) {
        Requester& earlier = kept.node.mapped();
        earlier.progress(taker_);
        under_way_ -= earlier.counted;
        kept.position->second.add_earlier(earlier);
      }
    }
    if (auto early = early_cnps_.extract({from, direction})) {
      const auto found = requesters_.find(key);
      if (found != requesters_.end()) found->second.on_cnp(early.mapped());
    }
  }
}

void WaitSurvey::follow_link(const Observation& packet) {
  if (link_ == nullptr || link_point_ != packet.point) {
    link_ = &links_[packet.point];
    link_point_ = packet.point;
  }
  Link& link = *link_;
  if (!link.has_ends) {
    link.has_ends = true;
    link.ends = {packet.source_mac, packet.destination_mac};
  }
  for (std::optional<MacAddress>& end : link.ends) {
    if (end && *end != packet.source_mac && *end != packet.destination_mac) end.reset();
  }
  Host* const host = host_of(packet);
  sender_ = host;
  if (host == nullptr) return;
  host->burst.add(packet.time, packet.wire_length);
  host->bytes += packet.wire_length;
}

WaitSurvey::Host* WaitSurvey::host_of(const Observation& packet) {
  const std::pair key{packet.point, packet.source};
  auto& [recent, host] = recent_hosts_[static_cast<std::size_t>(packet.source.octets.back()) % recent_hosts_.size()];
  if (host != nullptr && recent == key) return host;
  auto found = hosts_.find(key);
  if (found == hosts_.end() && hosts_.size() < most_) found = hosts_.try_emplace(key).first;
  if (found == hosts_.end()) return nullptr;
  recent = key;
  return host = &found->second;
}

void WaitSurvey::on_pause(const Observation& packet) {
  std::map<MacAddress, Pauses>& stations = links_[packet.point].pauses;
  if (stations.size() >= kMostStations && !stations.contains(packet.source_mac)) return;
  const double ns_a_bit = 1e9 / static_cast<double>(link_bits_per_second_ == 0 ? kAssumedLink : link_bits_per_second_);
  Pauses& priorities = stations[packet.source_mac];
  for (std::size_t priority = 0; priority < priorities.size(); ++priority) {
    if ((packet.pause_enabled >> priority & 1U) == 0) continue;
    Pause& pause = priorities[priority];
    const std::int64_t bits = packet.pause_quanta[priority] * kQuantumBits;
    // Without the speed only the XON shows how long it was.
    const bool goes_on = pause.is_on && (link_bits_per_second_ == 0 || pause.end >= packet.time);
    if (bits == 0) {
      if (goes_on) pause.end = packet.time;
      pause.is_on = false;
      continue;
    }
    if (!goes_on) pause.begin = packet.time;
    pause.end = packet.time + Duration{static_cast<std::int64_t>(static_cast<double>(bits) * ns_a_bit)};
    pause.is_on = true;
  }
}

bool WaitSurvey::was_paused(const Observation& packet, Duration gap) const {
  // A station stops what comes to it over its own link; the sender's partner stops what the sender sends. Elsewhere
  // nothing tells for whom a pause is.
  const bool leaves_here = is_at_end(packet.point, packet.source_mac);
  const bool comes_here = is_at_end(packet.point, packet.destination_mac);
  if (!leaves_here && !comes_here) return false;
  for (const auto& [station, priorities] : links_.at(packet.point).pauses) {
    if (station == packet.source_mac || !(leaves_here || station == packet.destination_mac)) continue;
    for (std::size_t priority = 0; priority < priorities.size(); ++priority) {
      // Without a tag the host's own tables choose the priority, by the DSCP.
      if (packet.link_priority != Observation::kNoPriority && packet.link_priority != priority) continue;
      const Pause& pause = priorities[priority];
      if (std::min(pause.end, packet.time) - std::max(pause.begin, packet.time - gap) > gap / 2) return true;
    }
  }
  return false;
}

WaitFor WaitSurvey::reason(const Requester& requester, const Observation& packet, Duration gap) const {
  const bool begins = packet.info().begins_message();
  const auto at = [](double ns_a_byte, std::uint64_t bytes) {
    return Duration{static_cast<std::int64_t>(std::min(kSlower * ns_a_byte * static_cast<double>(bytes), kLongest))};
  };
  Duration usual = has_nanoseconds_ ? kAtOnce : kCoarseAtOnce;
  // An application that sends a message now and then has a pace, too, which is not that of the wire.
  const bool could_send = requester.is_open() || !begins;
  if (could_send) {
    const double ns_a_byte = requester.burst.least_ns_a_byte;
    usual = std::max(usual, ns_a_byte == 0 ? kBeforeAnyBurst : at(ns_a_byte, packet.wire_length));
  }
  if (gap <= usual) return WaitFor::nothing;
  if (sender_ != nullptr && could_send) {
    const std::uint64_t others = sender_->bytes - requester.host_bytes - packet.wire_length;
    if (others != 0 && gap <= at(sender_->burst.least_ns_a_byte, others + packet.wire_length)) return WaitFor::link;
  }
  if (was_paused(packet, gap)) return WaitFor::pauses;
  if (requester.had_credits) return WaitFor::credits;
  if (requester.last_answer && packet.time - *requester.last_answer <= std::max(gap / 4, kReaction)) {
    return WaitFor::answers;
  }
  if (requester.last_cnp && packet.time - *requester.last_cnp <= kCnpEffect) return WaitFor::rate;
  return begins ? WaitFor::application : WaitFor::host;
}

void WaitSurvey::account(Requester& requester, const Observation& packet, const Verdict* resent) {
  const Duration since = std::max(packet.time - requester.latest, Duration::zero());
  const Duration whole = requester.deferred + since;
  if (requester.is_open()) requester.integrate(since);
  if (resent != nullptr) requester.was_not_ready = resent->cause == Cause::rnr;
  if (resent != nullptr && !requester.is_recovering) {
    requester.is_recovering = true;
    requester.recovered = requester.next;
    requester.recent.lose(requester.recovery());
  }
  if (requester.is_recovering) {
    requester.recent.add(requester.recovery(), whole);
  } else if (const WaitFor all = reason(requester, packet, whole); requester.is_open()) {
    requester.fast = all == WaitFor::nothing ? requester.fast + 1 : 0;
    if (requester.fast == kFastAgain) requester.last_cnp.reset();
    requester.recent.add(all, whole);
  } else {
    // The wait for the last answer, and what came then.
    const bool explains_both = all == WaitFor::nothing || all == WaitFor::link || all == WaitFor::pauses;
    const bool explains_since = explains_both || all == WaitFor::answers || all == WaitFor::credits;
    requester.recent.add(explains_both ? all : WaitFor::answers, requester.deferred);
    requester.recent.add(explains_since ? all : WaitFor::application, since);
  }
  requester.deferred = {};
}

void WaitSurvey::on_request(Requester& requester, const Observation& packet, const PacketAnalysis& analysis) {
  const Verdict* const resent = said_of(analysis, VerdictKind::retransmission);
  if (requester.sum.requests != 0) account(requester, packet, resent);
  requester.latest = std::max(requester.latest, packet.time);
  // Only what follows while something is under way, or within a message, shows how fast the wire is.
  if (!requester.is_open() && packet.info().begins_message()) requester.burst.count = 0;
  const bool begins_anew = analysis.relative_psn < requester.answered && resent == nullptr;
  if (requester.sum.requests == 0 || begins_anew) {
    requester.answered = requester.given_up = requester.next = analysis.relative_psn;
    requester.is_recovering = false;
  }
  requester.next = std::max(requester.next, analysis.relative_psn + 1);
  ++requester.sum.requests;
  if (resent != nullptr) {
    ++requester.sum.resent;
    requester.given_up = std::min(requester.given_up, analysis.relative_psn);
  } else {
    requester.sum.payload += packet.payload_length;
    requester.burst.add(packet.time, packet.wire_length);
  }
  if (sender_ != nullptr) requester.host_bytes = sender_->bytes;
  requester.last_answer.reset();
  requester.had_credits = false;
  note_under_way(requester, packet.time);
}

void WaitSurvey::on_response(Requester& requester, const Observation& packet, const PacketAnalysis& analysis) {
  if (requester.is_open()) {
    const Duration since = std::max(packet.time - requester.latest, Duration::zero());
    requester.integrate(since);
    requester.deferred += since;
    requester.latest = std::max(requester.latest, packet.time);
  }
  // With little under way, of what it has had under way, no window is full.
  if (requester.under_way() * 2 >= requester.sum.most_under_way) requester.last_answer = packet.time;
  requester.had_credits = requester.had_credits || said_of(analysis, VerdictKind::credit_stall) != nullptr;
  if (analysis.latency > Duration::zero() &&
      (!requester.sum.least_round_trip || analysis.latency < *requester.sum.least_round_trip)) {
    requester.sum.least_round_trip = analysis.latency;
  }
  const bool refuses = packet.has_aeth && packet.syndrome.kind() != AethKind::ack;
  const bool is_part = packet.info().operation == Operation::read_response && !packet.info().ends_message();
  // A READ takes the PSNs of its responses, of which its request says nothing without the path MTU.
  if (is_part) requester.next = std::max(requester.next, analysis.relative_psn + 2);
  note_under_way(requester, packet.time);
  const std::int64_t answered = analysis.relative_psn + (refuses ? 0 : 1);
  if (answered <= requester.answered) return;
  if (packet.info().operation == Operation::read_response) requester.sum.payload += packet.payload_length;
  requester.answered = answered;
  requester.next = std::max(requester.next, answered);
  note_under_way(requester, packet.time);
  if (requester.is_recovering && requester.answered < requester.recovered) return;
  requester.is_recovering = false;
  requester.progress(taker_);
}

void WaitSurvey::give_up(std::uint32_t stream, std::uint8_t direction, Time time) {
  Requester* const requester = known({stream, direction});
  if (requester == nullptr) return;
  requester->given_up = requester->next;
  note_under_way(*requester, time);
}

void WaitSurvey::finish() {
  for (auto& [key, open] : requesters_) open.end(taker_);
}

bool WaitSurvey::is_at_end(std::uint16_t point, const MacAddress& station) const {
  const auto link = links_.find(point);
  return link != links_.end() &&
         std::ranges::find(link->second.ends, std::optional{station}) != link->second.ends.end();
}

std::vector<WaitSummary> WaitSurvey::summaries() const {
  std::vector<WaitSummary> all;
  all.reserve(requesters_.size());
  for (const auto& [key, open] : requesters_) {
    Requester ended = open;
    ended.end(nullptr);
    if (ended.open_time > Duration::zero()) {
      ended.sum.mean_under_way = ended.psn_ns / static_cast<double>(ended.open_time.count());
    }
    const std::int64_t psns = std::max<std::int64_t>(ended.next, 1);
    ended.sum.mean_round_trip = Duration{static_cast<std::int64_t>(ended.psn_ns / static_cast<double>(psns))};
    ended.sum.is_near = is_at_end(ended.sum.point, ended.station);
    all.push_back(ended.sum);
  }
  return all;
}

}  // namespace roce::analysis
