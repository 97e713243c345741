// SPDX-License-Identifier: BSD-2-Clause
#include "roce/analysis/waits.h"

#include <algorithm>
#include <numeric>

namespace roce::analysis {

namespace {

/// What follows sooner than this is sent without a wait, whatever the rate: clocks of nanoseconds, and of microseconds.
constexpr Duration kAtOnce{200};
constexpr Duration kCoarseAtOnce{1'500};
/// As long as no burst has shown the rate.
constexpr Duration kBeforeAnyBurst{5'000};
/// So many times as long as in the fastest burst is a pause between packets, and no jitter.
constexpr double kSlower = 2;
/// An answer makes a requester send within this, or within a quarter of the time that it waited.
constexpr Duration kReaction{2'000};
/// A CNP bears on the rate until so many packets in a row follow each other as fast as ever, and no longer than this. A
/// card that keeps a rate may send in bursts of its own.
constexpr unsigned kFastAgain = 64;
constexpr Duration kCnpEffect{1'000'000'000};
/// Pauses of more link partners than these are not followed.
constexpr std::size_t kMostPartners = 4096;
constexpr std::uint64_t kAssumedLink = 100'000'000'000;
constexpr std::int64_t kQuantumBits = 512;

[[nodiscard]] const Verdict* said_of(const PacketAnalysis& analysis, VerdictKind kind) {
  const auto found = std::ranges::find(analysis.verdicts, kind, &Verdict::kind);
  return found == analysis.verdicts.end() ? nullptr : &*found;
}

[[nodiscard]] Duration sum(const std::array<Duration, kWaits>& times) {
  return std::accumulate(times.begin(), times.end(), Duration::zero());
}

}  // namespace

std::string_view to_string(WaitFor wait) {
  static constexpr std::array<std::string_view, kWaits> kNames{
      "nothing", "answers", "application", "credits", "receiver", "losses", "pauses", "rate", "host"};
  return kNames[static_cast<std::size_t>(wait)];
}

Duration WaitSummary::all() const {
  return sum(times);
}

void WaitSurvey::Burst::add(Time time, std::uint32_t length) {
  const auto& oldest = last[count % kPackets];
  if (count >= kPackets && time > oldest.first) {
    std::uint64_t bytes = 0;
    for (const auto& [when, size] : last) bytes += size;
    const double ns_a_byte = static_cast<double>((time - oldest.first).count()) / static_cast<double>(bytes);
    if (least_ns_a_byte == 0 || ns_a_byte < least_ns_a_byte) least_ns_a_byte = ns_a_byte;
  }
  last[count++ % kPackets] = {time, length};
}

void WaitSurvey::Requester::on_cnp(Time time) {
  last_cnp = time;
  fast = 0;
}

void WaitSurvey::Requester::progress() {
  for (std::size_t wait = 0; wait < kWaits; ++wait) sum.times[wait] += recent[wait];
  recent = {};
}

void WaitSurvey::Requester::integrate(Duration time) {
  psn_ns += static_cast<double>(next - answered) * static_cast<double>(time.count());
  open_time += time;
}

WaitSurvey::WaitSurvey(std::uint64_t link_bits_per_second, std::size_t most_requesters)
    : link_bits_per_second_(link_bits_per_second == 0 ? kAssumedLink : link_bits_per_second), most_(most_requesters) {}

void WaitSurvey::observe(const Observation& packet, const PacketAnalysis& analysis) {
  has_nanoseconds_ = has_nanoseconds_ || packet.time.time_since_epoch() % Duration{1000} != Duration::zero();
  if (packet.pause_enabled != 0) on_pause(packet);
  if (analysis.absorbed != kNoStream) absorb(analysis.absorbed, analysis.stream);
  if (analysis.stream == kNoStream || packet.icrc_bad || said_of(analysis, VerdictKind::duplicate) != nullptr) return;
  const auto other = static_cast<std::uint8_t>(1 - analysis.direction);
  switch (analysis.role) {
    case PacketRole::request:
      if (Requester* const found = find({analysis.stream, analysis.direction}, packet, true)) {
        on_request(*found, packet, analysis);
      }
      return;
    case PacketRole::response:
      if (Requester* const found = find({analysis.stream, other}, packet, false)) on_response(*found, packet, analysis);
      return;
    case PacketRole::cnp:
      if (Requester* const found = find({analysis.stream, other}, packet, false)) found->on_cnp(packet.time);
      return;
    case PacketRole::other:
    case PacketRole::datagram:
    case PacketRole::management:
      return;
  }
}

WaitSurvey::Requester* WaitSurvey::find(Key key, const Observation& packet, bool is_request) {
  const auto found = requesters_.find(key);
  if (found != requesters_.end()) return &found->second;
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
  made.latest = packet.time;
  return &made;
}

void WaitSurvey::absorb(std::uint32_t from, std::uint32_t into) {
  for (const std::uint8_t direction : {std::uint8_t{0}, std::uint8_t{1}}) {
    auto node = requesters_.extract({from, direction});
    if (node.empty()) continue;
    node.key() = {into, static_cast<std::uint8_t>(1 - direction)};
    node.mapped().sum.stream = into;
    node.mapped().sum.direction = node.key().second;
    requesters_.insert(std::move(node));
  }
}

void WaitSurvey::on_pause(const Observation& packet) {
  const std::pair key{packet.point, packet.source_mac};
  if (pauses_.size() >= kMostPartners && !pauses_.contains(key)) return;
  std::array<Pause, 8>& priorities = pauses_[key];
  for (std::size_t priority = 0; priority < priorities.size(); ++priority) {
    if ((packet.pause_enabled >> priority & 1U) == 0) continue;
    Pause& pause = priorities[priority];
    if (pause.end < packet.time) pause.begin = packet.time;
    const std::int64_t bits = packet.pause_quanta[priority] * kQuantumBits;
    const auto ns =
        static_cast<std::int64_t>(static_cast<double>(bits) * 1e9 / static_cast<double>(link_bits_per_second_));
    pause.end = packet.time + Duration{ns};
  }
}

bool WaitSurvey::was_paused(const Observation& packet, Time since) const {
  const Duration all = packet.time - since;
  for (auto partner = pauses_.lower_bound({packet.point, MacAddress{}});
       partner != pauses_.end() && partner->first.first == packet.point; ++partner) {
    // A host's own pauses stop its link partner.
    if (partner->first.second == packet.source_mac) continue;
    for (std::size_t priority = 0; priority < partner->second.size(); ++priority) {
      // Without a tag the host's own tables choose the priority, by the DSCP.
      if (packet.link_priority != Observation::kNoPriority && packet.link_priority != priority) continue;
      const Pause& pause = partner->second[priority];
      const Duration overlap = std::min(pause.end, packet.time) - std::max(pause.begin, since);
      if (overlap * 2 > all) return true;
    }
  }
  return false;
}

WaitFor WaitSurvey::reason(const Requester& requester, const Observation& packet, Time since) const {
  const Duration gap = packet.time - since;
  const Duration at_once = has_nanoseconds_ ? kAtOnce : kCoarseAtOnce;
  const double ns_a_byte = requester.burst.least_ns_a_byte;
  const Duration usual =
      ns_a_byte == 0 ? kBeforeAnyBurst : Duration{static_cast<std::int64_t>(kSlower * ns_a_byte * packet.wire_length)};
  if (gap <= std::max(at_once, usual)) return WaitFor::nothing;
  if (was_paused(packet, since)) return WaitFor::pauses;
  if (requester.had_credits) return WaitFor::credits;
  if (requester.had_answer && (packet.time - requester.last_answer) * 4 <= std::max(gap, kReaction * 4)) {
    return WaitFor::answers;
  }
  if (requester.last_cnp && packet.time - *requester.last_cnp <= kCnpEffect) return WaitFor::rate;
  return requester.is_open() ? WaitFor::host : WaitFor::application;
}

void WaitSurvey::account(Requester& requester, const Observation& packet, const Verdict* resent) {
  const Duration since = std::max(packet.time - requester.latest, Duration::zero());
  const Duration whole = requester.deferred + since;
  if (requester.is_open()) requester.integrate(since);
  if (resent != nullptr) requester.was_not_ready = resent->cause == Cause::rnr;
  if (resent != nullptr && !requester.is_recovering) {
    requester.is_recovering = true;
    requester.recovered = requester.next;
    const Duration lost = sum(requester.recent) - requester.recent[static_cast<std::size_t>(WaitFor::nothing)];
    requester.recent = {Duration{requester.recent[static_cast<std::size_t>(WaitFor::nothing)]}};
    requester.add(requester.was_not_ready ? WaitFor::receiver : WaitFor::losses, lost);
  }
  if (requester.is_recovering) {
    requester.add(requester.was_not_ready ? WaitFor::receiver : WaitFor::losses, whole);
  } else if (requester.is_open()) {
    const WaitFor all = reason(requester, packet, packet.time - whole);
    requester.fast = all == WaitFor::nothing ? requester.fast + 1 : 0;
    if (requester.fast == kFastAgain) requester.last_cnp.reset();
    requester.add(all, whole);
  } else {
    // The wait for the last answer, and what came then.
    const WaitFor all = reason(requester, packet, packet.time - whole);
    const bool explains_both = all == WaitFor::nothing || all == WaitFor::pauses;
    const bool explains_since = explains_both || all == WaitFor::answers || all == WaitFor::credits;
    requester.add(explains_both ? all : WaitFor::answers, requester.deferred);
    requester.add(explains_since ? all : WaitFor::application, since);
  }
  requester.deferred = {};
}

void WaitSurvey::on_request(Requester& requester, const Observation& packet, const PacketAnalysis& analysis) {
  const Verdict* const resent = said_of(analysis, VerdictKind::retransmission);
  if (requester.sum.requests != 0) account(requester, packet, resent);
  requester.latest = std::max(requester.latest, packet.time);
  if (analysis.relative_psn < requester.answered && resent == nullptr) {
    // Another connection with the same numbers.
    requester.answered = requester.next = analysis.relative_psn;
    requester.is_recovering = false;
  }
  if (requester.sum.requests == 0) requester.answered = analysis.relative_psn;
  requester.next = std::max(requester.next, analysis.relative_psn + 1);
  ++requester.sum.requests;
  if (resent != nullptr) {
    ++requester.sum.resent;
  } else {
    requester.sum.payload += packet.payload_length;
    requester.burst.add(packet.time, packet.wire_length);
  }
  requester.had_answer = requester.had_credits = false;
  const auto under_way = static_cast<std::uint64_t>(std::max<std::int64_t>(requester.next - requester.answered, 0));
  requester.sum.most_under_way = std::max(requester.sum.most_under_way, under_way);
}

void WaitSurvey::on_response(Requester& requester, const Observation& packet, const PacketAnalysis& analysis) {
  if (requester.is_open()) {
    const Duration since = std::max(packet.time - requester.latest, Duration::zero());
    requester.integrate(since);
    requester.deferred += since;
    requester.latest = std::max(requester.latest, packet.time);
  }
  requester.had_answer = true;
  requester.last_answer = packet.time;
  requester.had_credits = requester.had_credits || said_of(analysis, VerdictKind::credit_stall) != nullptr;
  if (analysis.latency > Duration::zero() &&
      (!requester.sum.least_round_trip || analysis.latency < *requester.sum.least_round_trip)) {
    requester.sum.least_round_trip = analysis.latency;
  }
  const bool refuses = packet.has_aeth && packet.syndrome.kind() != AethKind::ack;
  const bool is_part = packet.info().operation == Operation::read_response &&
                       packet.info().position != Position::last && packet.info().position != Position::only;
  // A READ takes the PSNs of its responses, of which its request says nothing without the path MTU.
  if (is_part) requester.next = std::max(requester.next, analysis.relative_psn + 2);
  const std::int64_t answered = analysis.relative_psn + (refuses ? 0 : 1);
  if (answered <= requester.answered) return;
  requester.answered = answered;
  requester.next = std::max(requester.next, answered);
  if (requester.is_recovering && requester.answered < requester.recovered) return;
  requester.is_recovering = false;
  requester.progress();
}

std::vector<WaitSummary> WaitSurvey::summaries() const {
  std::vector<WaitSummary> all;
  all.reserve(requesters_.size());
  for (const auto& [key, open] : requesters_) {
    Requester ended = open;
    ended.add(ended.is_recovering ? (ended.was_not_ready ? WaitFor::receiver : WaitFor::losses) : WaitFor::answers,
              ended.deferred);
    ended.progress();
    if (ended.open_time > Duration::zero()) {
      ended.sum.mean_under_way = ended.psn_ns / static_cast<double>(ended.open_time.count());
    }
    all.push_back(ended.sum);
  }
  return all;
}

}  // namespace roce::analysis
