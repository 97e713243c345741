// SPDX-License-Identifier: BSD-2-Clause
// The requests of a channel in PSN order: those that continue it, and the gaps that they reveal.
#include <algorithm>
#include <functional>
#include <ranges>

#include "analysis/heuristics.h"
#include "analysis/tracker_state.h"

namespace roce::analysis {

namespace {

void remember(ChannelRef ref, const Request& request) {
  make_room(ref);
  ref.channel.requests.push_back(request);
}

void count_message(Channel& channel, const Request& request) {
  const Position position = request.info().position;
  if (position == Position::first || position == Position::only || channel.message_count == 0) {
    ++channel.message_count;
    channel.message_first = request.first;
  }
}

// Adds a gap that the current packet reveals.
Gap& add_gap(ChannelRef ref, LongPsn first, LongPsn end) {
  Channel& channel = ref.channel;
  const Observation& packet = ref.packet();
  Gap gap;
  gap.first = first;
  gap.count = static_cast<std::uint32_t>(end - first);
  gap.revealed_by = packet.id;
  gap.revealed_at = packet.time;
  std::size_t at = channel.gaps.size();
  while (at > 0 && channel.gaps[at - 1].first > first) --at;
  Verdict& verdict = say_now(ref.state, ref.stream, VerdictKind::gap);
  verdict.first_psn = ref.wire(first);
  verdict.psn_count = gap.count;
  return channel.gaps.insert(at, gap);
}

// A-ORD-7 (one packet far ahead of a go-back that goes on was overtaken by it)
// True if it is that far ahead, and the packet before it was not: the next request shows which of the two it was.
bool may_be_stray(const Channel& channel, const Flow& flow, const Observation& packet, LongPsn psn) {
  const Restart& restart = *channel.restart;
  return !ids_show_order(flow, packet) && restart.stray == 0 && psn == channel.next && psn == restart.interrupted &&
         psn - restart.next > heuristics::kOvertakingJump;
}

// Handles a request that is newer than all before it while a go-back is under way: it ends that, or it overtook it.
void go_ahead(ChannelRef ref, const Flow& flow, Request& request) {
  Channel& channel = ref.channel;
  const Fate ahead = explain_ahead(channel, flow, ref.packet(), request.psn).fate;
  if (ahead == Fate::late) {
    Verdict& verdict = say_now(ref.state, ref.stream, VerdictKind::out_of_order);
    verdict.other = channel.restart->begun_by;
    verdict.elapsed = ref.packet().time - channel.restart->begin;
    request.came_late = true;
    return;
  }
  // The next request shows it.
  if (ahead == Fate::sent_again_or_late && channel.latest == channel.restart->first) return;
  if (ahead != Fate::sent_again_or_late) {
    if (may_be_stray(channel, flow, ref.packet(), request.psn)) {
      channel.restart.make().stray = request.psn;
      return;
    }
    // Two in a row: the go-back was over at the first of them.
    const LongPsn stray = channel.restart->stray;
    add_gap_of_restart(ref, stray != 0 && channel.latest == stray ? stray : request.psn);
  }
  channel.restart.make().active = false;
}

// Handles a request that is newer than all before it, the usual case.
void append(ChannelRef ref, const Flow& flow, const Observation& packet, LongPsn psn) {
  Channel& channel = ref.channel;
  Request request = make_request(ref.state, psn);
  channel.next_max = 0;
  set_read_span(ref, request);
  if (channel.restart->active) go_ahead(ref, flow, request);
  channel.next = request.end();
  count_message(channel, request);
  count_credits(ref, request);
  const bool follows = channel.order.is_known && channel.order.next == psn;
  judge_request(ref, request);
  remember(ref, request);
  if (request.needs_own_answer()) add_read(ref, request).is_original = follows;
  if (packet.info().service == Service::uc) walk_unanswered(ref, request);
  if (channel.ends->open->is_refused) continue_refused(ref);
  PacketAnalysis& result = ref.state.result;
  result.message = channel.message_count;
  result.message_first = channel.message_first;
}

// Returns the index of the first request whose `key` (its first PSN, or the one after its last) is greater than `psn`.
template <typename Key>
std::size_t first_beyond(const Ring<Request>& log, LongPsn psn, Key key) {
  const auto indexes = std::views::iota(std::size_t{0}, log.size());
  const auto key_of = [&](std::size_t i) { return std::invoke(key, log[i]); };
  return static_cast<std::size_t>(std::ranges::upper_bound(indexes, psn, {}, key_of) - indexes.begin());
}

void start(ChannelRef ref, LongPsn psn) {
  Channel& channel = ref.channel;
  channel.requests_seen = true;
  channel.first = psn;
  channel.next = psn;
  channel.acknowledged = psn;
  ref.stream.summary.is_open_start = ref.stream.summary.is_open_start ||
                                     ref.packet().info().position == Position::middle ||
                                     ref.packet().info().position == Position::last;
}

void restart_stream(ChannelRef ref, Flow& flow, LongPsn psn) {
  begin_anew(ref.state, flow);
  Stream& stream = *flow.stream;
  (void)say_now(ref.state, stream, VerdictKind::new_connection);
  const ChannelRef anew{ref.state, stream, stream.channels[0].make(), 0};
  start(anew, psn);
  ref.state.result.relative_psn = 0;
  append(anew, flow, ref.packet(), psn);
}

// True if the packet belongs just before the first request of the capture, which overtook it.
bool is_late_first(const Channel& channel, const Flow& flow, const Observation& packet, LongPsn psn) {
  if (channel.requests.empty() || channel.has_response || channel.restart->active) return false;
  const Request& oldest = channel.requests.front();
  if (oldest.psn > channel.first || psn >= oldest.psn || oldest.psn - psn > heuristics::kMostOvertaken) return false;
  return ids_show_order(flow, packet) ? is_older_id(packet.ip_id, flow.last_ip_id)
                                      : packet.time - oldest.first_time < heuristics::kRequestOvertaken;
}

// True if the packet belongs just before the first request of the connection, and comes after an ACK timeout: it was
// lost when it was sent before. A-LOSS-7 (nothing acknowledged, then a packet before the first: the first was lost).
// Unless the connection was set up in the capture, the packets before the first may have been sent before it began.
bool is_lost_first(const TrackerState& state, const Flow& flow, const Channel& channel, LongPsn psn) {
  const Observation& packet = *state.packet;
  return packet.info().service != Service::uc && !channel.lacks_syndromes && is_just_before(channel, psn) &&
         !channel.responses_seen && state.peer_qpns.contains(flow.key) &&
         packet.time - channel.requests.front().last_time > heuristics::kLeastTimeout;
}

void on_late_first(ChannelRef ref, LongPsn psn) {
  Channel& channel = ref.channel;
  const Request oldest = channel.requests.front();
  Request request = make_request(ref.state, psn);
  request.came_late = true;
  const LongPsn next_max = channel.next_max;
  set_read_span(ref, request);
  channel.next_max = next_max;
  const auto most = static_cast<std::uint32_t>(oldest.psn - psn);
  request.span = request.lacks_length ? most : std::min(request.span, most);
  Verdict& verdict = say_now(ref.state, ref.stream, VerdictKind::out_of_order);
  verdict.other = oldest.first;
  verdict.elapsed = request.first_time - oldest.first_time;
  make_room(ref);
  if (channel.settled != 0) {
    request.acknowledged = true;
    ++channel.settled;
  }
  channel.requests.insert(0, request);
  if (request.needs_own_answer()) add_read(ref, request);
}

bool was_answered(const Channel& channel, LongPsn psn) {
  for (std::size_t i = 0; i < channel.responses.size(); ++i) {
    if (channel.responses[i].psn == psn) return true;
  }
  return false;
}

// True if the current packet begins a message with a PSN before all remembered requests: far back, or while nothing is
// under way that could be sent again. A-CON-4 (such a PSN belongs to another connection).
bool is_of_another_connection(ChannelRef ref, LongPsn psn) {
  const Channel& channel = ref.channel;
  const Position position = ref.packet().info().position;
  if (channel.requests.empty() || (position != Position::first && position != Position::only)) return false;
  const Request& oldest = channel.requests.front();
  // Between known requests, or answered by a known response, it is one of the connection that was not seen.
  if (psn > oldest.psn || was_answered(channel, psn)) return false;
  // The first message of the capture began before the capture, or out of order.
  const Position first = oldest.info().position;
  if (first != Position::first && first != Position::only && oldest.psn - psn <= heuristics::kMostOvertaken)
    return false;
  const bool nothing_under_way =
      channel.settled == channel.requests.size() && channel.requests.size() >= heuristics::kRequestsOfIdle;
  return nothing_under_way || channel.next - psn > static_cast<LongPsn>(ref.state.options.limits.max_gap);
}

// Handles a request that precedes all that is remembered: it was first sent before the capture began, or long ago.
Sighting on_forgotten(ChannelRef ref, LongPsn psn) {
  // A-CUT-3, too: whether anything is under way is unknown, so it may begin another connection.
  if (ref.channel.lacks_syndromes) return Sighting::copy;
  const Restart& reason = continue_restart(ref, psn, psn + 1, Time{});
  say_retransmission(ref, reason, {{}, {}, psn < ref.channel.acknowledged});
  return Sighting::transmission;
}

}  // namespace

Request make_request(const TrackerState& state, LongPsn psn) {
  const Observation& packet = *state.packet;
  Request request;
  request.psn = psn;
  request.first = request.last = packet.id;
  request.first_time = request.previous_time = request.last_time = packet.time;
  request.icrc = packet.icrc;
  request.has_icrc = packet.has_bits();
  request.first_ip_id = request.last_ip_id = packet.ip_id;
  request.hop_limit = packet.hop_limit;
  request.asks_for_ack = packet.ack_req;
  request.opcode = packet.opcode;
  request.payload = static_cast<std::uint16_t>(std::min<std::uint32_t>(packet.payload_length, 0xFFFF));
  request.length = packet.has_reth ? packet.dma_length : packet.payload_length;
  request.is_cut = packet.is_cut;
  request.is_several = state.is_several;
  request.lacks_length = packet.lacks_length() || request.is_several;
  return request;
}

void make_room(ChannelRef ref) {
  Channel& channel = ref.channel;
  Ring<Request>& log = channel.requests;
  if (log.size() == log.capacity() && log.size() >= heuristics::kRequestsKept) {
    const std::size_t limit = ref.state.options.limits.requests_per_stream;
    if (channel.settled > heuristics::kRequestsKept / 2) {
      log.pop_front();
      --channel.settled;
    } else if (log.size() >= limit) {
      if (channel.settled != 0) {
        --channel.settled;
      } else {
        // The capture can no longer show what became of it.
        ++ref.state.evictions.requests;
        channel.acknowledged = std::max(channel.acknowledged, log.front().end());
      }
      log.pop_front();
    }
  }
}

void add_gap_of_restart(ChannelRef ref, LongPsn psn) {
  Channel& channel = ref.channel;
  if (!channel.restart->active) return;
  channel.restart.make().jump_from = channel.restart->next;
  channel.restart.make().jump_to = psn;
  LongPsn first = std::max(channel.restart->next, channel.acknowledged);
  if (channel.has_response) first = std::max(first, channel.newest_response + 1);
  if (first >= psn || channel.restart->cause == Cause::unknown) return;
  for (std::size_t i = 0; i < channel.gaps.size(); ++i) {
    if (channel.gaps[i].first < psn && channel.gaps[i].end() > first) return;
  }
  add_gap(ref, first, psn).of_restart = true;
}

bool needs_own_answer(Operation operation) {
  switch (operation) {
    case Operation::read_request:
    case Operation::compare_swap:
    case Operation::fetch_add:
    case Operation::flush:
    case Operation::atomic_write:
      return true;
    default:
      return false;
  }
}

bool Request::needs_own_answer() const {
  return !is_several && analysis::needs_own_answer(info().operation);
}

// A-PSN-1 (PSNs count modulo 2^24; the one nearest to `near` is meant)
LongPsn long_psn(Psn psn, LongPsn near) {
  return near + psn.distance_from(Psn{static_cast<std::uint32_t>(near & 0xFF'FFFF)});
}

std::size_t find_request(const Channel& channel, LongPsn psn) {
  const Ring<Request>& log = channel.requests;
  // Usually it is one of the newest, and each of those takes one PSN.
  if (const LongPsn back = channel.next - psn; back > 0 && back <= static_cast<LongPsn>(log.size())) {
    const std::size_t guess = log.size() - static_cast<std::size_t>(back);
    if (log[guess].psn == psn) return guess;
  }
  const std::size_t found = first_beyond(log, psn, &Request::end);
  return found < log.size() && log[found].psn <= psn ? found : log.size();
}

std::size_t place_of(const Channel& channel, LongPsn psn) {
  return first_beyond(channel.requests, psn, &Request::psn);
}

Gap* find_gap(RareRing<Gap>& gaps, LongPsn psn) {
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    if (gaps[i].covers(psn)) return &gaps[i];
  }
  return nullptr;
}

Sighting on_request(ChannelRef ref, Flow& flow) {
  Channel& channel = ref.channel;
  const Observation& packet = ref.packet();
  PacketAnalysis& result = ref.state.result;
  ++flow.packets;
  limit_gaps(ref);
  if (packet.info().position == Position::first || packet.info().position == Position::middle) {
    learn_mtu(ref.stream, packet.payload_length);
    if (!ref.state.is_several && !packet.icrc_bad) {
      ref.stream.summary.directions[ref.direction].full_size = static_cast<std::uint16_t>(packet.payload_length);
    }
  }
  if (packet.is_cut) channel.lacks_lengths = true;
  if (!channel.requests_seen) start(ref, static_cast<LongPsn>(packet.psn.value()) + (LongPsn{1} << 32U));
  LongPsn psn = long_psn(packet.psn, channel.next);
  settle_guess(ref, psn);
  settle_filled(ref, psn);
  result.relative_psn = psn - channel.first;

  Sighting seen = Sighting::transmission;
  if (psn == channel.next) {
    append(ref, flow, packet, psn);
  } else if (psn > channel.next) {
    if (psn - channel.next > ref.state.options.limits.max_gap) {
      // Too far for a loss: no requester has that much under way.
      restart_stream(ref, flow, psn);
      return seen;
    }
    (void)add_gap(ref, channel.next, psn);
    append(ref, flow, packet, psn);
  } else if (const std::size_t index = find_request(channel, psn);
             ref.state.is_several || (index < channel.requests.size() && channel.requests[index].is_several)) {
    // A-CUT-4 (nothing is said of what may have been in a super-frame that was cut)
    seen = Sighting::copy;
  } else if (index < channel.requests.size() && !corrects_guess(ref, channel.requests[index], psn)) {
    seen = on_repeated(ref, flow, channel.requests[index], psn);
  } else if (const Gap* gap = find_gap(channel.gaps, psn)) {
    on_missing(ref, flow, *gap, psn);
  } else if (is_late_first(channel, flow, packet, psn)) {
    on_late_first(ref, psn);
  } else if (is_lost_first(ref.state, flow, channel, psn)) {
    on_missing(ref, flow, add_gap_before(ref, psn), psn);
  } else if (is_of_another_connection(ref, psn)) {
    restart_stream(ref, flow, psn);
    return seen;
  } else {
    seen = on_forgotten(ref, psn);
  }
  if (!channel.doubts.empty()) count_asked(ref, psn);
  channel.latest = psn;
  channel.latest_time = packet.time;
  settle(ref, packet.time);
  return seen;
}

}  // namespace roce::analysis
