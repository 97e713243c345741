// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>

#include "analysis/tracker_state.h"

namespace roce::analysis {

namespace {

// Number of acknowledged requests that are remembered, to tell retransmissions from new requests.
constexpr std::size_t kHistory = 128;

bool is_read(const Request& request) {
  return request.info().operation == Operation::read_request;
}

std::uint32_t packets_for(std::uint32_t length, std::uint32_t mtu) {
  return std::max(1U, static_cast<std::uint32_t>((std::uint64_t{length} + mtu - 1) / mtu));
}

Request make_request(const Observation& packet, LongPsn psn) {
  Request request;
  request.psn = psn;
  request.first = request.last = packet.id;
  request.first_time = request.previous_time = request.last_time = packet.time;
  request.icrc = packet.icrc;
  request.has_icrc = packet.has_icrc;
  request.hop_limit = packet.hop_limit;
  request.asks_for_ack = packet.ack_req;
  request.opcode = packet.opcode;
  request.payload = static_cast<std::uint16_t>(std::min<std::uint32_t>(packet.payload_length, 0xFFFF));
  request.length = packet.has_reth ? packet.dma_length : packet.payload_length;
  return request;
}

// Corrects `next`, which may be anything up to `next_max` while a READ's span is a guess: the next request decides.
void settle_guess(ChannelRef ref, LongPsn psn) {
  Channel& channel = ref.channel;
  if (channel.next_max <= channel.next || psn <= channel.next || channel.requests.empty()) return;
  Request& read = channel.requests.back();
  LongPsn next = channel.next;
  for (std::uint32_t mtu = 256; mtu <= 4096; mtu *= 2) {
    const LongPsn end = read.psn + packets_for(read.length, mtu);
    if (end <= psn) next = std::max(next, end);
  }
  // PSNs that the READ may have taken are not missing for certain. With a hole after the READ the guess is too large;
  // the packets that come in its place then correct it.
  channel.next = next;
  read.span = static_cast<std::uint32_t>(next - read.psn);
  if (Read* waiting = find_read(channel, read.psn)) waiting->span = read.span;
}

void make_room(ChannelRef ref) {
  Channel& channel = ref.channel;
  Ring<Request>& log = channel.requests;
  if (log.size() == log.capacity() && log.size() >= kHistory) {
    const std::size_t limit = ref.state.options.limits.requests_per_stream;
    if (channel.settled > kHistory / 2) {
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

void add_gap(ChannelRef ref, LongPsn first, LongPsn end, bool of_restart = false) {
  Channel& channel = ref.channel;
  const Observation& packet = ref.packet();
  Gap gap;
  gap.first = first;
  gap.count = static_cast<std::uint32_t>(end - first);
  gap.revealed_by = packet.id;
  gap.revealed_at = packet.time;
  gap.of_restart = of_restart;
  for (std::size_t i = 0; i < channel.corrupted.size(); ++i) {
    if (gap.covers(channel.corrupted[i].psn)) gap.corrupted = channel.corrupted[i].packet;
  }
  std::size_t at = channel.gaps.size();
  while (at > 0 && channel.gaps[at - 1].first > first) --at;
  channel.gaps.insert(at, gap);
  Verdict& verdict = say_now(ref.state, ref.stream, VerdictKind::gap);
  verdict.first_psn = ref.wire(first);
  verdict.psn_count = gap.count;
}

// Undoes the jump of a go-back that goes on where it was before its latest packet: that was a stray of an earlier one.
void undo_jump(ChannelRef ref, LongPsn psn) {
  Restart& restart = ref.channel.restart;
  if (!restart.active || restart.jump_from != psn || restart.jump_to <= psn || ref.channel.latest != restart.jump_to)
    return;
  // A packet that is a few PSNs behind was only overtaken by the latest one.
  if (restart.jump_to - psn <= kReordering / 2) return;
  restart.next = psn;
  resolve_gap(ref, ref.channel.gaps, psn, static_cast<std::uint32_t>(restart.jump_to - psn), VerdictKind::unexplained,
              Cause::none);
}

// Handles a request that is newer than all before it, the usual case.
void append(ChannelRef ref, const Observation& packet, LongPsn psn) {
  Channel& channel = ref.channel;
  Request request = make_request(packet, psn);
  channel.next_max = 0;
  add_gap_of_restart(ref, psn);
  if (is_read(request)) set_read_span(channel, request, ref.stream.path_mtu);
  channel.next = request.end();
  channel.restart.active = false;
  count_message(channel, request);
  count_credits(ref, request);
  const bool is_behind = channel.order.is_known && channel.order.next == psn;
  judge_request(ref, request);
  remember(ref, request);
  if (request.needs_own_answer()) add_read(ref, request, is_behind);
  if (packet.info().service == Service::uc) walk_unanswered(ref, request);
  PacketAnalysis& result = ref.state.result;
  result.message = channel.message_count;
  result.message_first = channel.message_first;
}

void on_late(ChannelRef ref, Request& request, LongPsn psn, bool is_sent_again) {
  Channel& channel = ref.channel;
  const Observation& packet = ref.packet();
  Verdict& verdict = say_now(ref.state, ref.stream, VerdictKind::out_of_order);
  verdict.other = request.last;
  verdict.elapsed = packet.time - request.last_time;
  if (is_sent_again) {
    say_retransmission(ref, channel.restart, request.last, request.last_time, request.acknowledged);
    channel.restart.first = std::min(channel.restart.first, psn);
    if (request.transmissions != 0xFF) ++request.transmissions;
    request.last = packet.id;
    request.previous_time = request.last_time;
    request.last_time = packet.time;
    request.icrc = packet.icrc;
    request.has_icrc = packet.has_icrc;
  }
  request.came_late = true;
  if (find_gap(channel.gaps, psn) != nullptr) {
    resolve_gap(ref, channel.gaps, psn, request.span, VerdictKind::reordered, Cause::none);
  }
  if (Read* read = find_read(channel, psn); read != nullptr && is_sent_again) reset_read(channel, *read, psn, packet);
}

void on_repeated(ChannelRef ref, Flow& flow, std::size_t index, LongPsn psn) {
  Channel& channel = ref.channel;
  const Observation& packet = ref.packet();
  Request& request = channel.requests[index];
  if (request.psn == psn && is_copy(channel, flow, request, packet, psn)) {
    // The responder answers each copy that the network makes.
    if (say_copy(ref, flow, request.last, request.last_time) == Cause::network) {
      if (Read* const read = find_read(channel, psn)) ++read->asked;
    }
    return;
  }
  // The packets after it may belong to another connection with the same QP numbers.
  channel.order.is_known = false;
  channel.in_doubt = channel.in_doubt || (request.psn == psn && request.opcode != packet.opcode);
  undo_jump(ref, psn);
  if (is_late_of_restart(channel, flow, request, packet, psn)) {
    on_late(ref, request, psn, true);
    return;
  }
  if (was_overtaken(flow, packet).value_or(false)) {
    // It is an earlier transmission than the newest one that was seen.
    on_late(ref, request, psn, false);
    return;
  }
  const PacketId before = request.last;
  const Time before_time = request.last_time;
  // A READ that is requested again from its middle takes the rest of its PSNs.
  const LongPsn end = request.end();
  const Gap* const gap = find_gap(channel.gaps, psn);
  const bool was_missing = gap != nullptr;
  const std::size_t nak = find_nak(channel, psn);
  // True for the PSN that a NAK asked for, and for those that are sent again after it in the same go-back.
  const bool was_asked_for =
      was_missing && ((nak < channel.naks.size() && channel.naks[nak].time >= gap->revealed_at) ||
                      (channel.restart.active && channel.restart.reason_time >= gap->revealed_at));
  const Restart& reason = continue_restart(ref, psn, end, before_time);
  say_retransmission(ref, reason, before, before_time, request.acknowledged);
  // It was missing from the go-back before. If nothing has asked for it since, the gap only came of a stray packet.
  if (was_missing) {
    const bool was_lost = !request.acknowledged && (was_asked_for || reason.cause == Cause::timeout);
    resolve_gap(ref, channel.gaps, psn, static_cast<std::uint32_t>(request.end() - psn),
                was_lost ? VerdictKind::request_lost_before : VerdictKind::unexplained, Cause::none);
  }
  request.last = packet.id;
  request.previous_time = request.last_time;
  request.last_time = packet.time;
  request.icrc = packet.icrc;
  request.has_icrc = packet.has_icrc;
  request.came_late = false;
  if (request.transmissions != 0xFF) ++request.transmissions;
  if (Read* read = find_read(channel, psn)) reset_read(channel, *read, psn, packet);
}

void on_missing(ChannelRef ref, Flow& flow, Gap& gap, LongPsn psn) {
  Channel& channel = ref.channel;
  const Observation& packet = ref.packet();
  Request request = make_request(packet, psn);
  if (is_read(request)) set_read_span(channel, request, ref.stream.path_mtu);
  // While the path MTU is unknown, the READ takes as many of the missing PSNs as it can.
  for (std::uint32_t mtu = 256; request.span_is_guess && mtu <= 4096; mtu *= 2) {
    const std::uint32_t span = packets_for(request.length, mtu);
    if (psn + span > gap.end()) continue;
    request.span = span;
    break;
  }
  const auto span = static_cast<std::uint32_t>(std::min<LongPsn>(request.span, gap.end() - psn));
  const PacketId corrupted = gap.corrupted;
  if (was_sent_again(channel, flow, gap, packet, psn)) {
    const bool had_it = static_cast<bool>(gap.acknowledged_by);
    const Cause cause = corrupted ? Cause::corrupted : Cause::none;
    const std::size_t nak = find_nak(channel, psn);
    const bool is_for_nak = nak < channel.naks.size() && channel.naks[nak].psn == psn && !channel.restart.active;
    const bool in_doubt = is_for_nak && !had_it && !was_overtaken(flow, packet).has_value();
    if (in_doubt) channel.filled.make() = {true, psn, span, cause, channel.naks[nak]};
    const Restart& reason = continue_restart(ref, psn, psn + span, gap.revealed_at);
    say_retransmission(ref, reason, {}, {}, had_it);
    if (!in_doubt) {
      resolve_gap(ref, channel.gaps, psn, span,
                  had_it ? VerdictKind::missed_by_capture : VerdictKind::request_lost_before, cause);
    }
  } else {
    request.came_late = true;
    // After a round trip it may also have been sent again, for a NAK that was not seen (A-LOSS-4).
    const bool is_sure =
        was_overtaken(flow, packet).has_value() || packet.time - gap.revealed_at < channel.least_latency;
    if (is_sure) {
      Verdict& verdict = say_now(ref.state, ref.stream, VerdictKind::out_of_order);
      verdict.other = gap.revealed_by;
      verdict.elapsed = packet.time - gap.revealed_at;
    }
    resolve_gap(ref, channel.gaps, psn, span, is_sure ? VerdictKind::reordered : VerdictKind::unexplained, Cause::none);
  }
  // The request goes to its place in PSN order.
  make_room(ref);
  std::size_t at = 0;
  for (std::size_t high = channel.requests.size(); at < high;) {
    const std::size_t middle = (at + high) / 2;
    if (channel.requests[middle].psn > psn) {
      high = middle;
    } else {
      at = middle + 1;
    }
  }
  if (at < channel.settled) request.acknowledged = true;
  channel.requests.insert(at, request);
  if (at < channel.settled) ++channel.settled;
  if (request.needs_own_answer()) add_read(ref, request, false);
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
  append(anew, ref.packet(), psn);
}

// True if the current packet begins a message with a PSN before all remembered requests: far back, or while nothing is
// under way that could be sent again. A-CON-4 (such a PSN belongs to another connection).
bool is_of_another_connection(ChannelRef ref, LongPsn psn) {
  const Channel& channel = ref.channel;
  const Position position = ref.packet().info().position;
  if (channel.requests.empty() || (position != Position::first && position != Position::only)) return false;
  const bool nothing_under_way = channel.settled == channel.requests.size() && channel.requests.size() >= 2;
  return nothing_under_way || channel.next - psn > static_cast<LongPsn>(ref.state.options.limits.max_gap);
}

}  // namespace

void add_gap_of_restart(ChannelRef ref, LongPsn psn) {
  Channel& channel = ref.channel;
  channel.restart.jump_from = channel.restart.next;
  channel.restart.jump_to = psn;
  LongPsn first = std::max(channel.restart.next, channel.acknowledged);
  if (channel.has_response) first = std::max(first, channel.newest_response + 1);
  if (!channel.restart.active || first >= psn || channel.restart.cause == Cause::unknown) return;
  for (std::size_t i = 0; i < channel.gaps.size(); ++i) {
    if (channel.gaps[i].first < psn && channel.gaps[i].end() > first) return;
  }
  add_gap(ref, first, psn, true);
}

bool Request::needs_own_answer() const {
  switch (info().operation) {
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

// A-PSN-1 (PSNs count modulo 2^24; the one nearest to `near` is meant)
LongPsn long_psn(const Channel& channel, Psn psn, LongPsn near) {
  (void)channel;
  return near + psn.distance_from(Psn{static_cast<std::uint32_t>(near & 0xFF'FFFF)});
}

std::size_t find_request(const Channel& channel, LongPsn psn) {
  const Ring<Request>& log = channel.requests;
  // Usually it is one of the newest, and each of those takes one PSN.
  if (const LongPsn back = channel.next - psn; back > 0 && back <= static_cast<LongPsn>(log.size())) {
    const std::size_t guess = log.size() - static_cast<std::size_t>(back);
    if (log[guess].psn == psn) return guess;
  }
  std::size_t low = 0;
  std::size_t high = log.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (log[middle].end() <= psn) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < log.size() && log[low].psn <= psn ? low : log.size();
}

Gap* find_gap(RareRing<Gap>& gaps, LongPsn psn) {
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    if (gaps[i].covers(psn)) return &gaps[i];
  }
  return nullptr;
}

// A-PSN-2 (a READ takes as many PSNs as its answer has packets of the path MTU)
void set_read_span(Channel& channel, Request& request, std::uint16_t mtu) {
  request.span = packets_for(request.length, mtu != 0 ? mtu : 4096);
  request.span_is_guess = mtu == 0 && request.length > 256;
  // More than half of all PSNs cannot be requested at once: such a length is not believed.
  request.span = std::min(request.span, 0x7F'FFFFU);
  channel.next_max = request.span_is_guess ? request.psn + std::min(packets_for(request.length, 256), 0x7F'FFFFU) : 0;
}

void learn_mtu(TrackerState& state, Stream& stream, std::uint32_t mtu) {
  if (stream.path_mtu != 0 || mtu < 256 || mtu > 4096 || (mtu & (mtu - 1)) != 0) return;
  stream.path_mtu = static_cast<std::uint16_t>(mtu);
  for (Lazy<Channel>& each : stream.channels) {
    if (!each) continue;
    Channel& channel = each.make();
    for (std::size_t i = 0; i < channel.requests.size(); ++i) {
      Request& request = channel.requests[i];
      if (!request.span_is_guess) continue;
      request.span = std::min(packets_for(request.length, mtu), 0x7F'FFFFU);
      request.span_is_guess = false;
      if (i + 1 == channel.requests.size()) channel.next = std::max(channel.next, request.end());
    }
    for (std::size_t i = 0; i < channel.reads.size(); ++i) {
      const std::size_t at = find_request(channel, channel.reads[i].psn);
      if (at < channel.requests.size()) channel.reads[i].span = channel.requests[at].span;
    }
    channel.next_max = 0;
  }
  (void)state;
}

namespace {

// Shortens a READ whose span was guessed if a packet comes in its middle that is not a READ of its rest: the READ ends
// there, and a hole was after it. True if it did.
bool corrects_guess(ChannelRef ref, Request& read, LongPsn psn) {
  if (!read.span_is_guess || psn == read.psn || ref.packet().info().operation == Operation::read_request) return false;
  Gap gap;
  gap.first = psn;
  gap.count = static_cast<std::uint32_t>(read.end() - psn);
  gap.revealed_by = ref.packet().id;
  gap.revealed_at = ref.packet().time;
  read.span = static_cast<std::uint32_t>(psn - read.psn);
  if (Read* waiting = find_read(ref.channel, read.psn)) waiting->span = read.span;
  std::size_t at = ref.channel.gaps.size();
  while (at > 0 && ref.channel.gaps[at - 1].first > gap.first) --at;
  ref.channel.gaps.insert(at, gap);
  return true;
}

}  // namespace

void settle_filled(ChannelRef ref, LongPsn next_request) {
  Channel& channel = ref.channel;
  if (!channel.filled->active) return;
  const Filled filled = *channel.filled;
  channel.filled = {};
  // A go-back continues with the next PSN. A packet that was only late is followed by a new one, or comes once more.
  const LongPsn end = filled.first + filled.count;
  const bool comes_again = next_request == filled.first;
  const bool was_late = comes_again || (next_request == channel.next && end < channel.next);
  resolve_gap(ref, channel.gaps, filled.first, filled.count,
              was_late ? VerdictKind::reordered : VerdictKind::request_lost_before, filled.cause);
  if (!was_late) return;
  channel.restart.active = false;
  if (comes_again) channel.naks.push_back(filled.nak);
}

void on_request(ChannelRef ref, Flow& flow) {
  Channel& channel = ref.channel;
  const Observation& packet = ref.packet();
  PacketAnalysis& result = ref.state.result;
  ++flow.packets;
  limit_gaps(ref);
  if (packet.info().position == Position::first || packet.info().position == Position::middle) {
    learn_mtu(ref.state, ref.stream, packet.payload_length);
  }
  if (!channel.requests_seen) start(ref, static_cast<LongPsn>(packet.psn.value()) + (LongPsn{1} << 32U));
  LongPsn psn = long_psn(channel, packet.psn, channel.next);
  settle_guess(ref, psn);
  settle_filled(ref, psn);
  result.relative_psn = psn - channel.first;

  if (psn == channel.next) {
    append(ref, packet, psn);
  } else if (psn > channel.next) {
    if (psn - channel.next > ref.state.options.limits.max_gap) {
      // Too far for a loss: no requester has that much under way.
      restart_stream(ref, flow, psn);
      return;
    }
    add_gap(ref, channel.next, psn);
    append(ref, packet, psn);
  } else if (const std::size_t index = find_request(channel, psn);
             index < channel.requests.size() && !corrects_guess(ref, channel.requests[index], psn)) {
    on_repeated(ref, flow, index, psn);
  } else if (Gap* gap = find_gap(channel.gaps, psn)) {
    on_missing(ref, flow, *gap, psn);
  } else if (is_of_another_connection(ref, psn)) {
    restart_stream(ref, flow, psn);
    return;
  } else {
    // It precedes all that is remembered: it was first sent before the capture began, or long ago.
    const Restart& reason = continue_restart(ref, psn, psn + 1, Time{});
    say_retransmission(ref, reason, {}, {}, psn < channel.acknowledged);
  }
  channel.latest = psn;
  settle(ref, packet.time);
}

}  // namespace roce::analysis
