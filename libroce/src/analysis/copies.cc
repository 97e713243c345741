// SPDX-License-Identifier: BSD-2-Clause
// Copies: packets that the network or the capture made of others.
#include <algorithm>

#include "analysis/heuristics.h"
#include "analysis/tracker_state.h"

namespace roce::analysis {

namespace {

// True if a NAK or an RNR NAK named `psn`.
bool is_named_by_nak(const Channel& channel, LongPsn psn) {
  const std::size_t nak = find_nak(channel, psn);
  return (nak < channel.naks.size() && channel.naks[nak].psn == psn) || (channel.rnr_waits && channel.rnr->psn == psn);
}

// True if both the go-back that is under way and the one before may have sent `psn`, so that two transmissions with the
// same bits come one after the other.
bool may_be_sent_twice(const Channel& channel, const Observation& packet, LongPsn psn) {
  const Restart& restart = *channel.restart;
  return restart.active && psn >= restart.interrupted && psn < channel.next &&
         packet.time - restart.begin < longest_overtaken(channel);
}

// Answers whether the current packet, with PSN `psn`, copies the latest transmission of `request`.
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

// Returns the earlier response of which this one is a copy;
// null if there is none, or if the response was sent again.
const Response* find_copy(Channel& channel, const Flow& flow, const Observation& packet, LongPsn psn) {
  // A PSN beyond all earlier responses was not seen before.
  if (!packet.has_bits() || channel.responses.empty() || psn > channel.highest_response) return nullptr;
  const std::size_t count = std::min(channel.responses.size(), heuristics::kResponsesSearched);
  for (std::size_t i = 0; i < count; ++i) {
    const Response& seen = channel.responses[channel.responses.size() - 1 - i];
    if (seen.psn != psn || !seen.has_icrc || seen.icrc != packet.icrc || seen.opcode != packet.opcode) continue;
    // Two equal ACKs may both have been sent; a READ response is a copy if it directly follows its original.
    const Read* const read = find_read(channel, psn);
    const bool was_sent_once =
        read != nullptr && read->answer.asked == 1 && packet.info().operation != Operation::acknowledge;
    const Explanation& copied =
        explain(Evidence{Question::copied_response}
                    .note(Fact::bits_would_differ, flow.ip_id_varies)
                    .note(Fact::was_sent_once, was_sent_once)
                    .note(Fact::follows_directly, i == 0 && packet.time - seen.time < heuristics::kCopyFollows));
    return copied.fate == Fate::copy ? &seen : nullptr;
  }
  return nullptr;
}

// Reports the current packet as a copy of `of`, which was seen at `time`. Returns who made it, as far as known.
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

}  // namespace

bool is_copied_request(ChannelRef ref, Flow& flow, const Request& request, LongPsn psn) {
  const Observation& packet = ref.packet();
  // A-CUT-5 (without its ICRC, only a packet with the same IP identification is certainly a copy)
  if (request.is_cut != packet.is_cut && request.psn == psn) return true;
  if (explain_copied(ref.channel, flow, request, packet, psn).fate != Fate::copy) return false;
  if (packet.is_cut && !flow.ip_id_varies) return true;
  // The responder answers each copy that the network makes.
  if (say_copy(ref, flow, request.last, request.last_time) == Cause::network) {
    if (Read* const read = find_read(ref.channel, psn)) ++read->answer.asked;
  }
  return true;
}

bool is_copied_response(ChannelRef ref, Flow& flow, LongPsn psn) {
  const Response* const copy = find_copy(ref.channel, flow, ref.packet(), psn);
  if (copy != nullptr) (void)say_copy(ref, flow, copy->packet, copy->time);
  return copy != nullptr;
}

}  // namespace roce::analysis
