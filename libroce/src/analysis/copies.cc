// SPDX-License-Identifier: BSD-2-Clause
// The evidence by which copies, overtaken packets and retransmissions are told apart; explain.cc decides.
#include "analysis/heuristics.h"
#include "analysis/tracker_state.h"

namespace roce::analysis {

namespace {

// Returns the longest time for which a request is believed to be overtaken.
Duration longest_overtaken(const Channel& channel) {
  return channel.least_latency != Duration::max() ? channel.least_latency : heuristics::kRequestOvertaken;
}

// A-COPY-2 (IP identifications that count up show the order of sending)
void note_order_of_sending(Evidence& evidence, const Flow& flow, const Observation& packet) {
  if (!ids_show_order(flow, packet)) return;
  evidence.note(Fact::ids_count, true);
  evidence.note(Fact::is_older, is_older_id(packet.ip_id, flow.last_ip_id));
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

// True if a go-back has just begun, and the current packet is farther ahead of it than losses usually put it.
bool is_far_ahead(const Channel& channel, const Observation& packet, LongPsn psn, LongPsn least_jump) {
  const Restart& restart = *channel.restart;
  return restart.active && restart.packets > 1 && psn - restart.next > least_jump &&
         packet.time - restart.begin < longest_overtaken(channel);
}

// True if the current packet was sent before the go-back that is under way, as far as PSNs and times tell: it comes
// soon after that began, and the requester had come to its PSN by then.
bool was_under_way(const Channel& channel, const Observation& packet, LongPsn psn) {
  const Restart& restart = *channel.restart;
  return (psn == restart.interrupted && is_far_ahead(channel, packet, psn, 1)) ||
         (psn > restart.interrupted && psn - restart.interrupted < heuristics::kMostOvertaken &&
          is_far_ahead(channel, packet, psn, heuristics::kOvertakingJump));
}

// True if both the go-back that is under way and the one before may have sent `psn`, so that two transmissions with the
// same bits come one after the other.
bool may_be_sent_twice(const Channel& channel, const Observation& packet, LongPsn psn) {
  const Restart& restart = *channel.restart;
  return restart.active && psn >= restart.interrupted && psn < channel.next &&
         packet.time - restart.begin < longest_overtaken(channel);
}

// True if the current packet comes sooner after the NAK that names `psn` than the requester reacts to NAKs.
bool is_too_early_for(const Channel& channel, const Observation& packet, LongPsn psn) {
  const std::size_t nak = find_nak(channel, psn);
  if (nak >= channel.naks.size() || channel.naks[nak].psn != psn) return false;
  return channel.least_reaction != Duration::max() &&
         packet.time - channel.naks[nak].time < channel.least_reaction / heuristics::kReactionPart;
}

}  // namespace

const Explanation& explain_ahead(const Channel& channel, const Flow& flow, const Observation& packet, LongPsn psn) {
  const Restart& restart = *channel.restart;
  Evidence evidence{Question::request_ahead};
  note_order_of_sending(evidence, flow, packet);
  evidence.note(Fact::was_under_way, is_far_ahead(channel, packet, psn, heuristics::kOvertakingJump))
      .note(Fact::is_first,
            restart.packets == 1 && psn != restart.next && packet.time - restart.begin < longest_overtaken(channel));

  return explain(evidence);
}

const Explanation& explain_copied(Channel& channel, const Flow& flow, const Request& request, const Observation& packet,
                                  LongPsn psn) {
  Evidence evidence{Question::copied_request};
  const bool has_same_bits = request.has_icrc && packet.has_bits() && request.icrc == packet.icrc;
  evidence.note(Fact::begins_there, request.psn == psn).note(Fact::has_same_bits, has_same_bits);
  // The rest takes searches, and retransmissions mostly have other bits.
  if (!has_same_bits) return explain(evidence);
  const Read* const read = find_read(channel, psn);
  const Duration copy_follows =
      channel.restart->active ? heuristics::kCopyFollows / heuristics::kCopyOfGoBackPart : heuristics::kCopyFollows;
  // Routers lower the hop limit, so a copy may have another one; a retransmission starts with the same.
  // A-LOSS-2 (UC has neither acknowledgements nor repetitions): what comes twice is a copy.
  const bool is_sent_once = packet.info().service == Service::uc;
  evidence.note(Fact::bits_would_differ, is_sent_once || flow.ip_id_varies || request.hop_limit != packet.hop_limit)
      .note(Fact::follows_directly, psn == channel.latest && packet.time - request.last_time < copy_follows)
      .note(Fact::was_asked_for, is_named_by_nak(channel, psn) || (read != nullptr && read->answer.passed))
      .note(Fact::was_under_way, may_be_sent_twice(channel, packet, psn))
      .note(Fact::responder_spoke, !channel.responses.empty() && channel.responses.back().time > request.last_time);
  return explain(evidence);
}

const Explanation& explain_repeated(const Channel& channel, const Flow& flow, const Request& request,
                                    const Observation& packet, LongPsn psn) {
  const Restart& restart = *channel.restart;
  Evidence evidence{Question::repeated_request};
  note_order_of_sending(evidence, flow, packet);
  const bool is_its_first = request.end() == restart.first;
  evidence.note(Fact::was_sent_last, is_older_id(request.last_ip_id, packet.ip_id))
      .note(Fact::was_sent_first, is_older_id(packet.ip_id, request.first_ip_id))
      .note(Fact::was_under_way, request.last_time < restart.begin && was_under_way(channel, packet, psn))
      .note(Fact::missed_its_turn, restart.begin != Time{} && psn < restart.next && request.last_time < restart.begin)
      .note(Fact::is_of_go_back, restart.active && (psn >= restart.first || psn == restart.asked_for || is_its_first))
      .note(Fact::is_near, restart.next - psn <= heuristics::kMostOvertaken ||
                               (is_its_first && restart.packets <= heuristics::kMostOvertaken))
      .note(Fact::was_asked_for, was_nacked_since(channel, psn, restart.begin))
      .note(Fact::is_soon, packet.time - restart.latest < longest_overtaken(channel));
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
  const Restart& restart = *channel.restart;
  const bool was_left_out = gap.revealed_at < restart.begin && is_far_ahead(channel, packet, psn, 1);
  evidence.note(Fact::is_acknowledged, static_cast<bool>(gap.acknowledged_by))
      .note(Fact::was_under_way, was_left_out || is_too_early_for(channel, packet, psn))
      .note(Fact::nak_for_it_alone, is_nacked && !channel.restart->active)
      .note(Fact::is_ahead, channel.restart->active && psn >= channel.restart->next)
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
