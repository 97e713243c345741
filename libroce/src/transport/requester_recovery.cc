// SPDX-License-Identifier: BSD-2-Clause
// How an RC requester recovers sooner from a loss than the specification asks for (LossRecovery): its ACK timer, probes
// of the tail, packets that go again alone, smaller windows.
#include "transport/requester_recovery.h"

#include <algorithm>

#include "transport/device_state.h"
#include "transport/scheduler.h"

namespace roce::transport::detail {

namespace {

/// The shortest time that an adaptive timer waits: hosts are not more punctual than that.
constexpr Duration kLeastTimeout = std::chrono::microseconds{100};
constexpr std::uint32_t kPercent = 100;
/// How many times more than at the first NAK may be under way while packets go again alone.
constexpr std::uint32_t kMostGrowth = 8;
/// The weight of what was before beside a new distance between two losses.
constexpr std::uint32_t kWeight = 8;
/// How often a request whose response was lost is probed for, each time after twice as long.
constexpr std::uint32_t kMostProbes = 8;
/// Half of all PSNs: no window is larger.
constexpr std::uint32_t kMostInFlight = 1U << 23U;

/// Returns the time without an answer after which the last packet is sent again.
[[nodiscard]] Duration probe_time(const RoundTrip& round_trip) {
  return std::max(round_trip.smoothed() * 3 / 2, round_trip.smoothed() + 2 * round_trip.variation());
}

/// True if a part of the oldest response has come: how fast the rest comes is up to the peer, and nothing that was
/// measured says it.
[[nodiscard]] bool awaits_rest(const Requester& req) {
  const SendWqe* const oldest = req.oldest();
  return oldest != nullptr && !oldest->done && oldest->needs_response() && req.una.newer_than(oldest->first_psn);
}

/// True if nothing more is sent until an answer comes, or if one is known to be lost.
[[nodiscard]] bool is_at_tail(const Qp& qp) {
  const Requester& req = qp.req;
  if (!req.outstanding() || (req.recovering && !goes_alone(qp)) || req.rnr_until != kNever) return false;
  return req.next == req.tail || shows_gap(qp);
}

}  // namespace

void make_requester_recovery(const DeviceState& device, Qp& qp) {
  const LossRecovery& recovery = device.profile().recovery;
  if (qp.init.type != QpType::rc || !recovery.is_of_requester()) return;
  qp.req.recovery = std::make_unique<RequesterRecovery>(recovery);
  qp.req.recovery->una = qp.req.una;
  if (recovery.held_responses == 0) return;
  qp.req.recovery->gap = std::make_unique<ResponseGap>(recovery.held_responses, HeldPackets::kMostHeaderBytes + qp.mtu);
}

std::uint32_t limit_window(const RequesterRecovery& recovery, std::uint32_t mtu, std::uint32_t window) {
  if (recovery.of_profile.window_bytes != 0)
    window = std::min(window, std::max(recovery.of_profile.window_bytes / mtu, 1U));
  return recovery.restart_window != 0 ? std::min(window, recovery.restart_window) : window;
}

Duration ack_timeout(const Qp& qp) {
  const RequesterRecovery* const recovery = qp.req.recovery.get();
  const bool adapts = recovery != nullptr && recovery->of_profile.adaptive_timeout && recovery->is_asked &&
                      recovery->round_trip.is_known();
  if (!adapts || qp.timeout.count() == 0 || awaits_rest(qp.req)) return qp.timeout;
  constexpr std::uint32_t most_doublings = 20;
  const Duration measured =
      recovery->round_trip.smoothed() + std::max(recovery->round_trip.smoothed(), 4 * recovery->round_trip.variation());
  return std::min(qp.timeout,
                  std::max(measured, kLeastTimeout) * (1U << std::min(recovery->doublings, most_doublings)));
}

void set_probe(Qp& qp, Time now) {
  RequesterRecovery& recovery = *qp.req.recovery;
  // A response may be slow, unless others show that it was lost.
  const std::uint32_t most = shows_gap(qp) ? kMostProbes : 1;
  const bool probes = recovery.of_profile.tail_probe && recovery.round_trip.is_known() && recovery.probes < most;
  const Duration wait = probe_time(recovery.round_trip) * (1U << recovery.probes);
  recovery.probe_at = probes && is_at_tail(qp) ? now + wait : kNever;
}

void note_sent(Qp& qp, Psn psn, bool asks, bool again, Time now) {
  Requester& req = qp.req;
  RequesterRecovery& recovery = *req.recovery;
  const bool was_armed = req.timeout_at != kNever;
  const bool begins_asking = asks && !recovery.is_asked;
  if (asks && (begins_asking || psn.newer_than(recovery.asked))) recovery.asked = psn;
  recovery.is_asked = recovery.is_asked || asks;
  if (begins_asking && !req.recovering) recovery.counted_at = now;
  if (again && psn == req.una) recovery.again_at = now;
  // The answer to what follows a gap waits for the gap.
  if (asks && !again && !req.recovering) recovery.sample.begin(psn, now);
  set_probe(qp, now);
  const bool restarts = !recovery.of_profile.timer_from_first || begins_asking;
  if (qp.timeout.count() != 0 && (restarts || !was_armed)) req.timeout_at = now + ack_timeout(qp);
}

void note_progress(Qp& qp, Time now) {
  RequesterRecovery& recovery = *qp.req.recovery;
  if (const auto round_trip = recovery.sample.end(qp.req.una, now)) {
    recovery.round_trip.take(*round_trip);
    // RFC 6298, 5.7: what was doubled stays so until a round trip is measured, or one that has grown never would be.
    recovery.doublings = 0;
  }
  recovery.counted_at = now;
  if (!awaits_rest(qp.req)) recovery.probes = 0;
  if (recovery.again_end && !recovery.again_end->newer_than(qp.req.una)) recovery.again_end.reset();
  if (recovery.tried && qp.req.una.newer_than(recovery.alone_end)) {
    recovery.peer = RequesterRecovery::Peer::holds;
    recovery.tried.reset();
  }
  const auto packets = static_cast<std::uint32_t>(std::max(qp.req.una.distance_from(recovery.una), 0));
  recovery.una = qp.req.una;
  close_response_gap(qp, packets);
  if (recovery.restart_window != 0) recovery.restart_window += packets;
  if (recovery.restart_window >= kMostInFlight) recovery.restart_window = 0;
  recovery.is_asked = recovery.is_asked && qp.req.outstanding() && !qp.req.una.newer_than(recovery.asked);
  set_probe(qp, now);
}

void note_going_back(const DeviceState& device, Qp& qp, congestion::Loss loss) {
  RequesterRecovery* const recovery = qp.req.recovery.get();
  if (recovery == nullptr) return;
  recovery->sample.forget();
  recovery->again.reset();
  recovery->again_at = kNever;
  // The timer begins anew with what is sent again.
  recovery->is_asked = false;
  recovery->tried.reset();
  recovery->again_end.reset();
  recovery->probe_at = kNever;
  if (recovery->gap != nullptr) recovery->gap->forget();
  if (loss == congestion::Loss::timeout && recovery->of_profile.restart_percent != 0) {
    recovery->restart_window = std::max(device.profile().window * recovery->of_profile.restart_percent / kPercent, 1U);
  }
}

bool costs_retry(Qp& qp, congestion::Loss loss, Time now) {
  RequesterRecovery* const recovery = qp.req.recovery.get();
  if (recovery == nullptr) return true;
  const bool is_timeout = loss == congestion::Loss::timeout;
  if (is_timeout) ++recovery->doublings;
  const bool is_sooner = is_timeout ? recovery->of_profile.adaptive_timeout : qp.req.recovering;
  // RC-REQ-16 (each restart costs one of retry_count), at the pace of the timeout that was asked for.
  if (is_sooner && (qp.timeout.count() == 0 || now - recovery->counted_at < qp.timeout)) return false;
  recovery->counted_at = now;
  return true;
}

bool is_lost_again(const Qp& qp, Time now) {
  const RequesterRecovery* const recovery = qp.req.recovery.get();
  if (recovery == nullptr || recovery->of_profile.nak_again_after.count() == 0) return false;
  const Duration least = recovery->round_trip.is_known() ? recovery->round_trip.smoothed() * 5 / 4
                                                         : recovery->of_profile.nak_again_after / 2;
  return recovery->again_at != kNever && now - recovery->again_at >= least;
}

void note_nak(Qp& qp, Psn psn) {
  RequesterRecovery* const recovery = qp.req.recovery.get();
  if (recovery == nullptr || psn == recovery->naked) return;
  const auto distance = static_cast<std::uint32_t>(std::max(psn.distance_from(recovery->naked), 0));
  recovery->naked = psn;
  recovery->distance += (std::min(distance, kMostInFlight) / kWeight) - recovery->distance / kWeight;
}

bool sends_alone(Qp& qp, Psn psn) {
  Requester& req = qp.req;
  RequesterRecovery* const recovery = req.recovery.get();
  using Peer = RequesterRecovery::Peer;
  if (recovery == nullptr || !recovery->of_profile.selective_repeat || psn != req.una) return false;
  if (recovery->peer == Peer::unknown && recovery->tried && psn == recovery->alone_end) recovery->peer = Peer::drops;
  if (recovery->peer == Peer::drops) return false;
  const auto flight = static_cast<std::uint32_t>(req.sent_end.distance_from(psn));
  const bool is_first = !recovery->again_end || !recovery->again_end->newer_than(psn);
  if (is_first) recovery->flight = flight;
  // One packet in a round trip is too slow where more than one is lost in it, or several in a row.
  const bool is_in_row = !is_first && psn == recovery->alone_end;
  const bool are_many = recovery->distance < recovery->flight || flight / kMostGrowth > recovery->flight;
  if (is_in_row || are_many) return false;
  const SendWqe* const oldest = req.oldest();
  const bool takes_all = oldest != nullptr && oldest->needs_response();
  recovery->alone_end = takes_all ? oldest->last_psn() + 1 : psn + 1;
  // The peer's answer shows what it did with the packets behind this one, if there are any.
  recovery->tried = req.sent_end.newer_than(recovery->alone_end) ? std::optional{psn} : std::nullopt;
  recovery->again_end = req.sent_end;
  recovery->sample.forget();
  recovery->again = psn;
  recovery->again_at = kNever;
  await_alone(qp);
  return true;
}

void on_probe_timer(DeviceState& device, Qp& qp, Time now) {
  RequesterRecovery& recovery = *qp.req.recovery;
  if (recovery.probe_at > now) return;
  recovery.probe_at = kNever;
  if (!is_at_tail(qp) || recovery.again) return;
  ++recovery.probes;
  recovery.sample.forget();
  if (!shows_gap(qp) || !requests_alone(qp)) recovery.again = qp.req.sent_end - 1;
  make_ready(device, qp);
}

}  // namespace roce::transport::detail
