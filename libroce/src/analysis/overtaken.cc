// SPDX-License-Identifier: BSD-2-Clause
// The evidence by which overtaken packets and retransmissions are told apart; explain.cc decides.
#include "analysis/heuristics.h"
#include "analysis/tracker_state.h"

namespace roce::analysis {

namespace {

// A-COPY-2 (IP identifications that count up show the order of sending)
void note_order_of_sending(Evidence& evidence, const Flow& flow, const Observation& packet) {
  if (!ids_show_order(flow, packet)) return;
  evidence.note(Fact::ids_count, true);
  evidence.note(Fact::is_older, is_older_id(packet.ip_id, flow.last_ip_id));
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

const Gap* gap_of(const Channel& channel, LongPsn psn) {
  for (std::size_t i = 0; i < channel.gaps.size(); ++i) {
    if (channel.gaps[i].covers(psn)) return &channel.gaps[i];
  }
  return nullptr;
}

// A-ORD-6 (a packet that a go-back left out may come after the first of the next one)
// True if the current packet is one that the go-back before left out: that one has sent it, and packets of the go-back
// that has just begun overtook it.
bool was_left_out(const Channel& channel, const Gap* gap, const Observation& packet, LongPsn psn) {
  const Restart& restart = *channel.restart;
  return gap != nullptr && gap->revealed_at < restart.begin && restart.active && psn - restart.next > 1 &&
         packet.time - restart.begin <
             (restart.packets == 1 ? heuristics::kRequestOvertaken : longest_overtaken(channel));
}

}  // namespace

Duration longest_overtaken(const Channel& channel) {
  return channel.least_latency != Duration::max() ? channel.least_latency : heuristics::kRequestOvertaken;
}

const Explanation& explain_ahead(const Channel& channel, const Flow& flow, const Observation& packet, LongPsn psn) {
  const Restart& restart = *channel.restart;
  Evidence evidence{Question::request_ahead};
  note_order_of_sending(evidence, flow, packet);
  evidence.note(Fact::was_under_way, is_far_ahead(channel, packet, psn, heuristics::kOvertakingJump))
      .note(Fact::is_first,
            restart.packets == 1 && psn != restart.next && packet.time - restart.begin < longest_overtaken(channel));
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
      .note(Fact::was_under_way,
            request.last_time < restart.begin &&
                (was_under_way(channel, packet, psn) || was_left_out(channel, gap_of(channel, psn), packet, psn)))
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
  evidence.note(Fact::is_acknowledged, static_cast<bool>(gap.acknowledged_by))
      .note(Fact::was_under_way, was_left_out(channel, &gap, packet, psn))
      .note(Fact::nak_for_it_alone, is_nacked && !channel.restart->active)
      .note(Fact::is_ahead, channel.restart->active && psn >= channel.restart->next)
      .note(Fact::was_asked_for, is_nacked || (channel.rnr_waits && channel.rnr->psn == psn))
      .note(Fact::after_timeout, since > heuristics::kLeastTimeout)
      .note(Fact::is_soon, since < channel.least_latency);
  return explain(evidence);
}

}  // namespace roce::analysis
