// SPDX-License-Identifier: BSD-2-Clause
// The evidence by which copies, overtaken packets and retransmissions are told apart; explain.cc decides.
#include "analysis/heuristics.h"
#include "analysis/tracker_state.h"

namespace roce::analysis {

namespace {

// A-COPY-2 (IP identifications that count up show the order of sending)
void note_order_of_sending(Evidence& evidence, const Flow& flow, const Observation& packet) {
  if (!flow.ip_id_varies || !packet.has_ip_id) return;
  evidence.note(Fact::ids_count, true);
  evidence.note(Fact::is_older, static_cast<std::int16_t>(packet.ip_id - flow.last_ip_id) < 0);
}

// True if a NAK or an RNR NAK named `psn`.
bool is_named_by_nak(const Channel& channel, LongPsn psn) {
  const std::size_t nak = find_nak(channel, psn);
  return (nak < channel.naks.size() && channel.naks[nak].psn == psn) || (channel.rnr_waits && channel.rnr->psn == psn);
}

bool was_nacked_since(const Channel& channel, LongPsn psn, Time begin) {
  for (std::size_t i = 0; i < channel.naks.size(); ++i) {
    if (channel.naks[i].psn == psn && channel.naks[i].time >= begin) return true;
  }
  return false;
}

}  // namespace

const Explanation& explain_copied(Channel& channel, const Flow& flow, const Request& request, const Observation& packet,
                                  LongPsn psn) {
  Evidence evidence{Question::copied_request};
  const bool has_same_bits = request.has_icrc && packet.has_bits() && request.icrc == packet.icrc;
  evidence.note(Fact::begins_there, request.psn == psn).note(Fact::has_same_bits, has_same_bits);
  // The rest takes searches, and retransmissions mostly have other bits.
  if (!has_same_bits) return explain(evidence);
  const Read* const read = find_read(channel, psn);
  // Routers lower the hop limit, so a copy may have another one; a retransmission starts with the same.
  // A-LOSS-2 (UC has neither acknowledgements nor repetitions): what comes twice is a copy.
  const bool is_sent_once = packet.info().service == Service::uc;
  evidence.note(Fact::bits_would_differ, is_sent_once || flow.ip_id_varies || request.hop_limit != packet.hop_limit)
      .note(Fact::follows_directly, psn == channel.latest && packet.time - request.last_time < heuristics::kCopyFollows)
      .note(Fact::was_asked_for, is_named_by_nak(channel, psn) || (read != nullptr && read->answer.passed))
      .note(Fact::responder_spoke, !channel.responses.empty() && channel.responses.back().time > request.last_time);
  return explain(evidence);
}

const Explanation& explain_repeated(const Channel& channel, const Flow& flow, const Request& request,
                                    const Observation& packet, LongPsn psn) {
  const Restart& restart = channel.restart;
  Evidence evidence{Question::repeated_request};
  note_order_of_sending(evidence, flow, packet);
  const Duration longest =
      channel.least_latency != Duration::max() ? channel.least_latency : heuristics::kRequestOvertaken;
  evidence
      .note(Fact::missed_its_turn, restart.begin != Time{} && psn < restart.next && request.last_time < restart.begin)
      .note(Fact::is_of_go_back, restart.active && (psn >= restart.first || psn == restart.asked_for))
      .note(Fact::is_near, restart.next - psn <= heuristics::kMostOvertaken)
      .note(Fact::was_asked_for, was_nacked_since(channel, psn, restart.begin))
      .note(Fact::is_soon, packet.time - restart.latest < longest);
  return explain(evidence);
}

const Explanation& explain_missing(const Channel& channel, const Flow& flow, const Gap& gap, const Observation& packet,
                                   LongPsn psn) {
  const std::size_t nak = find_nak(channel, psn);
  const bool is_nacked = nak < channel.naks.size() && channel.naks[nak].psn == psn;
  const Duration since = packet.time - gap.revealed_at;
  Evidence evidence{Question::missing_request};
  note_order_of_sending(evidence, flow, packet);
  // A-LOSS-2, too: what comes late was overtaken.
  if (packet.info().service == Service::uc) evidence.note(Fact::ids_count, true).note(Fact::is_older, true);
  evidence.note(Fact::is_acknowledged, static_cast<bool>(gap.acknowledged_by))
      .note(Fact::nak_for_it_alone, is_nacked && !channel.restart.active)
      .note(Fact::is_ahead, channel.restart.active && psn >= channel.restart.next)
      .note(Fact::was_asked_for, is_nacked || (channel.rnr_waits && channel.rnr->psn == psn))
      .note(Fact::after_timeout, since > heuristics::kLeastTimeout)
      .note(Fact::is_soon, since < channel.least_latency);
  return explain(evidence);
}

Cause say_copy(ChannelRef ref, Flow& flow, PacketId of, Time time) {
  const Explanation& made =
      explain(Evidence{Question::maker_of_copy}
                  .note(Fact::few_packets, flow.packets < heuristics::kPacketsBeforeBlame)
                  .note(Fact::many_copies, flow.copies * heuristics::kCopiesOfCapture > flow.packets));
  Verdict& verdict = say_now(ref.state, ref.stream, made.verdict);
  verdict.other = of;
  verdict.elapsed = ref.packet().time - time;
  verdict.cause = made.cause;
  ++flow.copies;
  return made.cause;
}

}  // namespace roce::analysis
