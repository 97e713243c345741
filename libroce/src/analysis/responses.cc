// SPDX-License-Identifier: BSD-2-Clause
// The responses of a channel: ACKs, NAKs and answers, and what they tell about the requests.
#include <algorithm>
#include <optional>

#include "analysis/heuristics.h"
#include "analysis/tracker_state.h"

namespace roce::analysis {

namespace {

bool is_acknowledgement(const Observation& packet) {
  return packet.info().operation == Operation::acknowledge && packet.syndrome.kind() == AethKind::ack;
}

bool was_seen(const Channel& channel, LongPsn psn) {
  for (std::size_t i = channel.responses.size(); i-- > 0;) {
    if (channel.responses[i].psn == psn) return true;
  }
  return false;
}

void remember(Channel& channel, const Observation& packet, LongPsn psn) {
  channel.highest_response = channel.responses.empty() ? psn : std::max(channel.highest_response, psn);
  if (channel.responses.size() == channel.responses.capacity() &&
      channel.responses.size() >= heuristics::kResponsesKept) {
    channel.responses.pop_front();
  }
  channel.responses.push_back(
      {psn, packet.id, packet.time, packet.icrc, packet.syndrome, packet.opcode, packet.has_bits(), false});
}

// True if the sender of the current response has sent something before it that was not seen, by the IP identification.
bool is_after_hole(ChannelRef ref) {
  const Flow* const flow = ref.stream.flows[ref.direction == 0 ? 1 : 0];
  const Observation& packet = ref.packet();
  if (flow == nullptr || !ids_show_order(*flow, packet)) return false;
  return is_older_id(static_cast<std::uint16_t>(flow->last_ip_id + 1), packet.ip_id);
}

}  // namespace

void mark_arrived(ChannelRef ref, LongPsn end) {
  const Observation& packet = ref.packet();
  RareRing<Gap>& gaps = ref.channel.gaps;
  for (std::size_t i = 0; i < gaps.size() && gaps[i].first < end; ++i) {
    if (gaps[i].acknowledged_by) continue;
    if (gaps[i].end() > end) {
      Gap rest = gaps[i];
      gaps[i].count = static_cast<std::uint32_t>(end - gaps[i].first);
      rest.count = static_cast<std::uint32_t>(rest.end() - end);
      rest.first = end;
      gaps.insert(i + 1, rest);
    }
    gaps[i].acknowledged_by = packet.id;
    gaps[i].acknowledged_at = packet.time;
  }
}

void note_latency(Channel& channel, Duration latency) {
  const Duration least = channel.least_latency;
  if (least == Duration::max() || latency < least - least / heuristics::kLatencyVariesBy) {
    channel.latencies = 1;
  } else if (latency <= least + least / heuristics::kLatencyVariesBy &&
             channel.latencies < heuristics::kLatenciesAlike) {
    ++channel.latencies;
  }
  channel.least_latency = std::min(least, latency);
}

// A-NAK-6 (nothing comes sooner after a request than the least latency, once others were like that)
Duration least_of_round_trip(const Channel& channel, int part) {
  if (channel.least_latency == Duration::max()) return Duration{};
  return channel.latencies >= heuristics::kLatenciesAlike ? channel.least_latency : channel.least_latency / part;
}

void link_request(ChannelRef ref, LongPsn psn) {
  Channel& channel = ref.channel;
  const std::size_t index = find_request(channel, psn);
  if (index >= channel.requests.size()) return;
  const Request& request = channel.requests[index];
  const Observation& packet = ref.packet();
  PacketAnalysis& result = ref.state.result;
  result.request = request.last;
  result.latency = packet.time - request.last_time;
  if (request.transmissions == 1 && !request.acknowledged && result.latency >= Duration{}) {
    note_latency(channel, result.latency);
  }
  if (ref.state.options.keep_answers) ref.state.answers.push_back({request.last, packet.id, result.latency});
}

// A-ACK-2 (passing one without an answer is an implied NAK).
void pass_reads(ChannelRef ref, LongPsn psn) {
  Channel& channel = ref.channel;
  const Observation& packet = ref.packet();
  const Read* oldest = nullptr;
  LongPsn end = 0;
  bool has_hole = is_after_hole(ref);
  for (std::size_t i = channel.reads.size(); i-- > 0;) {
    Read& read = channel.reads[i];
    if (read.end() > psn) continue;
    if (read.answer.passed && has_hole && !is_complete(channel, read)) {
      read.answer.after_hole = true;
      has_hole = false;
    }
    // Those before it were passed together with
    // it, except those that were requested again.
    if (read.answer.passed && !channel.restart->active) break;
    if (read.answer.passed) continue;
    read.answer.passed = true;
    read.answer.after_hole = has_hole;
    read.passed_by = packet.id;
    read.passed_at = packet.time;
    // If it was answered before, responses that were under
    // way when it was requested again prove nothing.
    if (is_complete(channel, read) || read.answer.was_complete ||
        (read.answer.asked > 1 && read.answer.highest == read.end())) {
      continue;
    }
    if (oldest == nullptr) end = read.end();
    oldest = &read;
  }
  if (oldest == nullptr) return;
  channel.read_was_passed = true;
  Verdict& verdict = say_now(ref.state, ref.stream, VerdictKind::implied_nak);
  verdict.other = oldest->request;
  verdict.first_psn = ref.wire(oldest->psn);
  verdict.psn_count = oldest->sure_psns(end - oldest->psn);
  verdict.elapsed = packet.time - oldest->request_time;
}

namespace {

// Notes whether the current response, which acknowledges the requests up to `psn`, answers the go-back under way, and
// not what was sent before. A-NAK-4 (the request that provoked a NAK was discarded: only the go-back brings it)
void note_answered(ChannelRef ref, LongPsn psn) {
  Channel& channel = ref.channel;
  if (!channel.restart || psn < channel.restart->first) return;
  const Restart& restart = *channel.restart;
  const bool is_early =
      ref.packet().time - restart.begin < least_of_round_trip(channel, heuristics::kAnswerComesAfterPart);
  const bool brings_provoker = restart.provoked_before != 0 && psn + 1 >= restart.provoked_before;
  if (is_early && !brings_provoker && !restart.was_silent) return;
  channel.restart.make().answered = true;
}

// Notes that the requests up to `psn` were not seen, as the current response shows; returns their number.
std::uint32_t miss_until(ChannelRef ref, LongPsn psn) {
  Channel& channel = ref.channel;
  Gap gap;
  gap.first = channel.next;
  gap.count = static_cast<std::uint32_t>(psn + 1 - channel.next);
  gap.revealed_by = ref.packet().id;
  gap.revealed_at = ref.packet().time;
  channel.gaps.push_back(gap);
  channel.next = psn + 1;
  channel.next_max = 0;
  return gap.count;
}

void on_unseen(ChannelRef ref, LongPsn psn) {
  const Channel& channel = ref.channel;
  if (psn < std::max(channel.next, channel.next_max) || psn - channel.next > heuristics::kAckAhead) return;
  Verdict& verdict = say_now(ref.state, ref.stream, VerdictKind::ack_of_unseen);
  verdict.first_psn = ref.wire(channel.next);
  verdict.psn_count = miss_until(ref, psn);
}

void on_ack(ChannelRef ref, const Answering& answering) {
  Channel& channel = ref.channel;
  const LongPsn psn = answering.psn;
  on_unseen(ref, psn);
  if (channel.has_response && psn <= channel.newest_response) {
    const bool is_newest = psn == channel.newest_response;
    const Explanation& old = explain(Evidence{Question::old_ack}
                                         .note(Fact::is_newest, is_newest)
                                         .note(Fact::is_older, answering.was_overtaken)
                                         .note(Fact::was_sent_last, answering.was_sent_last)
                                         .note(Fact::was_seen, !is_newest && was_seen(channel, psn)));
    (void)say_now(ref.state, ref.stream, old.verdict);
  }
  // An ACK with the PSN of a READ or atomic does
  // not pass it: only its own answer can answer it.
  pass_reads(ref, psn);
  mark_arrived(ref, psn + 1);
  note_answered(ref, psn);
  note_arrival(ref, psn);
  link_request(ref, psn);
  channel.newest_response = channel.has_response ? std::max(channel.newest_response, psn) : psn;
  channel.has_response = true;
  acknowledge(ref, channel.newest_response + 1);
}

// Handles an ACK or a NAK whose syndrome was cut: either says that the requests before its PSN have arrived.
// A-CUT-3 (nothing follows from a syndrome that was not captured)
void on_unknown_syndrome(ChannelRef ref, LongPsn psn) {
  Channel& channel = ref.channel;
  channel.lacks_syndromes = true;
  if (!channel.requests_seen) return;
  if (psn >= std::max(channel.next, channel.next_max) && psn - channel.next <= heuristics::kAckAhead) {
    (void)miss_until(ref, psn);
  }
  pass_reads(ref, psn);
  mark_arrived(ref, psn);
  note_answered(ref, psn - 1);
  link_request(ref, psn);
  channel.newest_response = channel.has_response ? std::max(channel.newest_response, psn - 1) : psn - 1;
  channel.has_response = true;
  acknowledge(ref, psn);
}

void add_response_gap(ChannelRef ref, const Read& read, LongPsn first, LongPsn end) {
  Channel& channel = ref.channel;
  const Observation& packet = ref.packet();
  Gap gap;
  gap.first = first;
  gap.count = static_cast<std::uint32_t>(end - first);
  gap.revealed_by = packet.id;
  gap.revealed_at = packet.time;
  channel.response_gaps.push_back(gap);
  Verdict& verdict = say_now(ref.state, ref.stream, VerdictKind::response_gap);
  verdict.other = read.request;
  verdict.first_psn = ref.wire(gap.first);
  verdict.psn_count = gap.count;
}

// A-ORD-7 (one response far ahead of an answer that goes on belongs to the answer before)
// Undoes the jump of an answer that goes on where it was before its latest response.
void undo_answer_jump(ChannelRef ref, Read& read, LongPsn psn) {
  Channel& channel = ref.channel;
  if (read.answer.asked == 1 || channel.responses.empty()) return;
  for (std::size_t i = 0; i < channel.response_gaps.size(); ++i) {
    const Gap gap = channel.response_gaps[i];
    if (gap.first != psn || gap.count < heuristics::kOvertakingJump) continue;
    if (gap.revealed_by != channel.responses.back().packet) continue;
    resolve_gap(ref, channel.response_gaps, gap.first, gap.count, VerdictKind::unexplained, Cause::none);
    read.answer.go_on_at(psn);
    return;
  }
}

// Handles one response of a READ.
void on_read_response(ChannelRef ref, Read& read, const Answering& answering) {
  Channel& channel = ref.channel;
  const Observation& packet = ref.packet();
  const LongPsn psn = answering.psn;
  const Position position = packet.info().position;
  AnswerPart part;
  part.psn = psn;
  part.begins = position == Position::first || position == Position::only;
  if (settle_late_answer(ref, answering, read, part.begins) == LateAnswer::yes) {
    say_now(ref.state, ref.stream, VerdictKind::response_out_of_order).other = read.request;
    read.answer.take_late(psn);
    return;
  }
  part.has_newer_msn = answering.has_newer_msn;
  part.is_older = answering.is_older;
  undo_answer_jump(ref, read, psn);
  if (const Gap* const gap = find_gap(channel.response_gaps, psn)) {
    part.is_missing = true;
    part.since_revealed = packet.time - gap->revealed_at;
  }
  const PlacedAnswer placed = read.answer.place(part, read.psn, read.end());
  if (placed.place == AnswerPlace::late) {
    const Explanation& late =
        explain(Evidence{Question::late_answer}.note(Fact::several_answers, placed.several_answers));
    if (late.fate == Fate::late) {
      say_now(ref.state, ref.stream, VerdictKind::response_out_of_order).other = read.request;
    }
    resolve_gap(ref, channel.response_gaps, psn, 1, late.verdict, late.cause);
    return;
  }
  if (placed.is_repeated) say_now(ref.state, ref.stream, VerdictKind::response_repeated).other = read.request;
  if (placed.place == AnswerPlace::gap) add_response_gap(ref, read, placed.gap_begin, psn);
}

// Forgets the answers that are due up to `psn`.
void forget_answers(Channel& channel, LongPsn psn) {
  for (std::size_t i = channel.reads.size(); i-- > 0;) {
    if (channel.reads[i].psn <= psn) channel.reads.erase(i);
  }
}

// Handles a READ response or another answer of its own.
void on_own_answer(ChannelRef ref, const Answering& answering) {
  Channel& channel = ref.channel;
  const LongPsn psn = answering.psn;
  const Observation& packet = ref.packet();
  if (packet.info().operation == Operation::read_response) learn_mtu_of_last(ref, psn);
  on_unseen(ref, psn);
  if (packet.info().operation == Operation::read_response) follow_length(ref, psn);
  Read* read = find_read(channel, psn);
  mark_arrived(ref, psn + 1);
  note_answered(ref, psn);
  note_arrival(ref, psn);
  if (read == nullptr) {
    pass_reads(ref, psn);
    channel.newest_response = channel.has_response ? std::max(channel.newest_response, psn) : psn;
    channel.has_response = true;
    return;
  }
  const LongPsn read_psn = read->psn;
  pass_reads(ref, read_psn);
  PacketAnalysis& result = ref.state.result;
  result.request = read->request;
  result.latency = packet.time - read->request_time;
  if (psn == read_psn) link_request(ref, psn);
  if (packet.info().operation == Operation::read_response) judge_answer(ref, *read, psn);
  on_read_response(ref, *read, answering);
  channel.newest_response = channel.has_response ? std::max(channel.newest_response, psn) : psn;
  channel.has_response = true;
  acknowledge(ref, channel.newest_response + 1);
}

// Notes whether a response to old PSNs was overtaken by one to newer PSNs, or sent after all that were seen.
void note_order_of_sending(Answering& answering, const Channel& channel, const Flow& flow, const Observation& packet) {
  const LatestAeth& newest = channel.aeth;
  const bool ids_tell = ids_show_order(flow, packet);
  answering.was_sent_last = ids_tell ? !is_older_id(packet.ip_id, flow.last_ip_id) : answering.has_newer_msn;
  if (!packet.has_aeth || !newest.is_known || answering.psn >= newest.psn) return;
  answering.was_overtaken = ids_tell ? is_older_id(packet.ip_id, newest.ip_id) : newest.msn.newer_than(packet.msn);
}

}  // namespace

Read* find_read(Channel& channel, LongPsn psn) {
  for (std::size_t i = channel.reads.size(); i-- > 0;) {
    Read& read = channel.reads[i];
    if (psn >= read.psn) return psn < read.end() ? &read : nullptr;
  }
  return nullptr;
}

Read& add_read(ChannelRef ref, const Request& request) {
  Channel& channel = ref.channel;
  Read read;
  read.psn = request.psn;
  read.span = request.span;
  read.answer = AnswerFollower::from(request.psn, request.end());
  read.request = request.last;
  read.request_time = request.last_time;
  read.length = request.length;
  read.lacks_length = request.lacks_length;
  read.is_sure = request.info().operation == Operation::read_request && !request.lacks_length;
  if (channel.reads.size() >= heuristics::kReadsKept &&
      (is_complete(channel, channel.reads.front()) ||
       channel.reads.size() >= ref.state.options.limits.responses_per_stream)) {
    channel.reads.pop_front();
  }
  std::size_t at = channel.reads.size();
  while (at > 0 && channel.reads[at - 1].psn > read.psn) --at;
  return channel.reads.insert(at, read);
}

Sighting on_response(ChannelRef ref, Flow& flow) {
  Channel& channel = ref.channel;
  const Observation& packet = ref.packet();
  ++flow.packets;
  limit_gaps(ref);
  channel.responses_seen = true;
  const OpcodeInfo& info = packet.info();
  if (info.operation == Operation::read_response &&
      (info.position == Position::first || info.position == Position::middle)) {
    learn_mtu(ref.stream, packet.payload_length);
  }
  const LongPsn near = channel.requests_seen  ? channel.next
                       : channel.has_response ? channel.newest_response
                                              : static_cast<LongPsn>(packet.psn.value()) + (LongPsn{1} << 32U);
  const LongPsn psn = long_psn(packet.psn, near);
  if (!channel.requests_seen) channel.first = channel.has_response ? channel.first : psn;
  ref.state.result.relative_psn = psn - channel.first;
  if (is_copied_response(ref, flow, psn)) return Sighting::copy;
  // A-CUT-4, too: what is missing of the answers is unknown.
  if (ref.state.is_several || channel.response_is_several) forget_answers(channel, psn);
  channel.response_is_several = ref.state.is_several;
  Answering answering{psn};
  answering.is_news = !channel.has_response || psn > channel.newest_response;
  // MSNs only grow: a response with a newer one than an answer to later PSNs was sent after that.
  answering.has_newer_msn =
      packet.has_aeth && channel.aeth.is_known && psn < channel.aeth.psn && packet.msn.newer_than(channel.aeth.msn);
  answering.ids_tell = ids_show_order(flow, packet);
  answering.is_older = answering.ids_tell && is_older_id(packet.ip_id, flow.last_ip_id);
  answering.has_older_msn = packet.has_aeth && channel.aeth.is_known && channel.aeth.msn.newer_than(packet.msn);
  if (!answering.is_news) note_order_of_sending(answering, channel, flow, packet);
  judge_aeth(ref, psn);
  const bool refuses = info.operation == Operation::acknowledge && !is_acknowledgement(packet);
  if (!channel.doubts.empty()) count_answer(ref, psn);
  hear(channel, psn + (refuses || packet.lacks_syndrome() ? 0 : 1));
  if (packet.lacks_syndrome()) {
    on_unknown_syndrome(ref, psn);
  } else if (!channel.requests_seen) {
    // Without the requests, only NAKs mean something.
    if (refuses) on_nak(ref, psn);
    channel.newest_response = channel.has_response ? std::max(channel.newest_response, psn) : psn;
    channel.has_response = true;
  } else if (is_acknowledgement(packet)) {
    on_ack(ref, answering);
  } else if (refuses) {
    on_nak(ref, psn);
  } else {
    on_own_answer(ref, answering);
  }
  take_credits(ref, answering);
  remember(channel, packet, psn);
  return Sighting::transmission;
}

}  // namespace roce::analysis
