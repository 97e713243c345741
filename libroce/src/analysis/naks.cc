// SPDX-License-Identifier: BSD-2-Clause
// NAKs: which transmission they are about, and what becomes of those that are pending.
#include <algorithm>
#include <optional>

#include "analysis/heuristics.h"
#include "analysis/tracker_state.h"

namespace roce::analysis {

namespace {

VerdictKind kind_of(NakCode code) {
  switch (code) {
    case NakCode::psn_sequence_error:
      return VerdictKind::nak_sequence_error;
    case NakCode::invalid_request:
      return VerdictKind::nak_invalid_request;
    case NakCode::remote_access_error:
      return VerdictKind::nak_remote_access_error;
    case NakCode::remote_operational_error:
      return VerdictKind::nak_remote_operational_error;
    case NakCode::invalid_rd_request:
      return VerdictKind::nak_invalid_rd_request;
  }
  return VerdictKind::nak_invalid_request;
}

void say_refusal(ChannelRef ref, LongPsn psn, VerdictKind kind, Duration wait) {
  const PacketAnalysis& result = ref.state.result;
  link_request(ref, psn);
  Verdict& verdict = say_now(ref.state, ref.stream, kind);
  verdict.other = result.request;
  verdict.elapsed = kind == VerdictKind::rnr_nak ? wait : result.latency;
}

// True if a NAK for `psn` means that the latest
// transmission of the request did not arrive in time.
bool is_suspect(const Channel& channel, const Request& request, LongPsn psn, Time now) {
  if (request.psn != psn || request.came_late) return false;
  // The request before it passed the capture point after it.
  const std::size_t index = find_request(channel, psn - 1);
  if (index < channel.requests.size() && channel.requests[index].last > request.last) return false;
  // It was refused by an RNR NAK before, and this
  // NAK is for the requests that followed it then.
  if (channel.rnr->packet && channel.rnr->psn == psn) return false;
  // A request before it was late: this one may have arrived meanwhile, and been discarded.
  for (std::size_t i = 0; i < channel.naks.size(); ++i) {
    if (channel.naks[i].arrived_late && request.last_time < channel.naks[i].arrived_at) return false;
  }
  if (request.transmissions == 1 || channel.least_latency == Duration::max()) return true;
  // A-NAK-5 (after the silence of an ACK timeout, nothing that was sent before is under way)
  if (channel.restart->was_silent && request.last_time >= channel.restart->begin) return true;
  const Duration since = now - request.last_time;
  if (since < least_of_round_trip(channel, heuristics::kNakComesSurelyAfterPart)) return false;
  // If two transmissions are closer together than a round trip, the NAK may be about either, unless the later go-back
  // has been answered already.
  return channel.restart->answered || (request.last_time - request.previous_time >= channel.least_latency &&
                                       since >= least_of_round_trip(channel, heuristics::kNakComesAfterPart));
}

// A-NAK-1 (a NAK for a sequence error names the first PSN that did not arrive)
void on_sequence_error(ChannelRef ref, const PendingNak& nak) {
  Channel& channel = ref.channel;
  PendingNak pending = nak;
  pending.provoked_before = channel.next;
  if (names_lost_before(channel, ref.packet(), nak.psn)) (void)add_gap_before(ref, nak.psn);
  if (Gap* gap = find_gap(channel.gaps, nak.psn)) {
    gap->nak = nak.packet;
    gap->nak_time = nak.time;
    // A request after the gap is what the responder answers with the NAK.
    if (const std::size_t next = place_of(channel, nak.psn); next < channel.requests.size()) {
      const Request& after = channel.requests[next];
      const bool is_known = after.transmissions == 1 && nak.time >= after.last_time;
      if (is_known) note_latency(channel, nak.time - after.last_time);
    }
  } else if (const std::size_t index = find_request(channel, nak.psn);
             index < channel.requests.size() && is_suspect(channel, channel.requests[index], nak.psn, nak.time)) {
    pending.suspect = channel.requests[index].last;
    pending.suspect_time = channel.requests[index].last_time;
    pending.suspect_is_first = channel.requests[index].transmissions == 1;
  }
  if (channel.naks.size() >= heuristics::kNaksKept) channel.naks.pop_front();
  channel.naks.push_back(pending);
}

}  // namespace

bool is_just_before(const Channel& channel, LongPsn psn) {
  return !channel.requests.empty() && channel.requests.front().psn <= channel.first && !channel.has_response &&
         psn < channel.requests.front().psn && channel.requests.front().psn - psn <= heuristics::kMostOvertaken;
}

bool names_lost_before(const Channel& channel, const Observation& packet, LongPsn psn) {
  // Once messages have been completed, what came before may also have been sent before the capture began.
  return packet.msn == Msn{} && packet.info().operation == Operation::acknowledge &&
         packet.syndrome.nak_code() == NakCode::psn_sequence_error && is_just_before(channel, psn);
}

Gap& add_gap_before(ChannelRef ref, LongPsn psn) {
  Channel& channel = ref.channel;
  const Request& oldest = channel.requests.front();
  Gap gap;
  gap.first = psn;
  gap.count = static_cast<std::uint32_t>(oldest.psn - psn);
  gap.revealed_by = oldest.first;
  gap.revealed_at = oldest.first_time;
  return channel.gaps.insert(0, gap);
}

void note_arrival(ChannelRef ref, LongPsn psn) {
  Channel& channel = ref.channel;
  for (std::size_t i = 0; i < channel.naks.size();) {
    PendingNak& nak = channel.naks[i];
    if (psn < nak.psn || nak.arrived_late) {
      ++i;
      continue;
    }
    if (channel.restart->begin > nak.time) {
      channel.naks.erase(i);
      continue;
    }
    nak.arrived_late = true;
    nak.arrived_at = ref.packet().time;
    const Duration since = ref.packet().time - nak.time;
    const bool is_soon = channel.least_latency != Duration::max() && since < channel.least_latency;
    const Explanation& fate = explain(Evidence{Question::acknowledged_again}
                                          .note(Fact::was_seen, static_cast<bool>(nak.suspect))
                                          .note(Fact::is_first, nak.suspect_is_first)
                                          .note(Fact::is_soon, is_soon));
    if (fate.verdict != kNoVerdict) {
      Verdict& verdict = say_later(ref.state, ref.stream, fate.verdict, nak.suspect, nak.suspect_time);
      verdict.first_psn = ref.wire(nak.psn);
      verdict.other = nak.packet;
      verdict.elapsed = since;
    }
    ++i;
  }
}

// A-NAK-2 (an RNR NAK acknowledges what is before its PSN and asks for a wait)
void on_nak(ChannelRef ref, LongPsn psn) {
  Channel& channel = ref.channel;
  const Observation& packet = ref.packet();
  const bool is_rnr = packet.syndrome.kind() == AethKind::rnr_nak;
  const std::optional<NakCode> code = packet.syndrome.nak_code();
  if (!is_rnr && !code) return;
  const Duration wait = is_rnr ? Duration{*packet.syndrome.rnr_timer()} : Duration{};
  say_refusal(ref, psn, is_rnr ? VerdictKind::rnr_nak : kind_of(*code), wait);
  // Every NAK acknowledges the requests before its PSN.
  pass_reads(ref, psn);
  mark_arrived(ref, psn);
  note_arrival(ref, psn - 1);
  if (channel.requests_seen) acknowledge(ref, psn);
  PendingNak pending;
  pending.psn = psn;
  pending.packet = packet.id;
  pending.time = packet.time;
  pending.wait = wait;
  if (is_rnr) {
    channel.rnr.make() = pending;
    channel.rnr_waits = true;
    note_refusal(ref, psn);
  } else if (*code != NakCode::psn_sequence_error) {
    channel.refused = true;
    refuse_message(ref, psn);
  } else if (!channel.rnr_waits || channel.rnr->psn != psn) {
    // A responder without a receive for a request refuses those after it as out of sequence (rxe); the wait that the
    // RNR NAK asks for is what counts.
    on_sequence_error(ref, pending);
  }
}

}  // namespace roce::analysis
