// SPDX-License-Identifier: BSD-2-Clause
// End-to-end flow control: how many messages a responder allows (RC-RESP-25), which of them the requester may send
// (RC-REQ-09), and when it had to wait (A-CRD-1).
#include "analysis/tracker_state.h"

namespace roce::analysis {

void count_credits(ChannelRef ref, const Request& request) {
  // Messages to a responder that has never granted credits are not counted.
  if (!ref.channel.credits) return;
  Credits& credits = ref.channel.credits.make();
  const OpcodeInfo& info = request.info();
  // The messages of a gap are not counted, nor is one whose beginning is missing: the number of the newest is unknown.
  if (request.psn != ref.channel.order.next) credits.knows_sent = credits.is_stalled = false;
  if (!credits.knows_sent || (info.position != Position::first && info.position != Position::only)) return;
  ++credits.sent;
  if (!credits.knows_limit || credits.are_ignored || info.operation != Operation::send) return;
  const std::int32_t beyond = credits.sent.distance_from(credits.limit);
  if (beyond > 1) {
    credits.are_ignored = true;
    credits.is_stalled = false;
  } else if (beyond == 1) {
    credits.is_stalled = true;
    credits.was_refused = false;
    credits.probe = request.psn;
    credits.packet = request.first;
    credits.since = request.first_time;
  }
}

void take_credits(ChannelRef ref, const Answering& answering) {
  Channel& channel = ref.channel;
  const Observation& packet = ref.packet();
  const LongPsn psn = answering.psn;
  if (!packet.has_aeth) return;
  if (packet.syndrome.kind() == AethKind::rnr_nak && channel.credits->is_stalled && psn == channel.credits->probe) {
    channel.credits.make().was_refused = true;
  }
  if (packet.syndrome.kind() != AethKind::ack) return;
  const std::optional<std::uint16_t> granted = packet.syndrome.credits();
  if (!granted) {
    if (channel.credits) channel.credits.make().knows_limit = channel.credits.make().is_stalled = false;
    return;
  }
  Credits& credits = channel.credits.make();
  // A-CRD-1 (the ACK of the newest request has the number of its message as MSN)
  if (psn + 1 == channel.next && !channel.requests.empty() && channel.requests.back().psn == psn &&
      packet.info().operation == Operation::acknowledge) {
    const Position position = channel.requests.back().info().position;
    credits.knows_sent = position == Position::last || position == Position::only;
    credits.sent = packet.msn;
  }
  const Msn limit = packet.msn + *granted;
  if (credits.knows_limit && !limit.newer_than(credits.limit)) return;
  credits.knows_limit = true;
  credits.limit = limit;
  if (!credits.is_stalled || credits.sent.newer_than(limit)) return;
  credits.is_stalled = false;
  // A probe that is accepted at once did not cost any time.
  if (answering.is_news && !credits.was_refused) return;
  if (!is_surely_joined(ref.state, ref.stream)) return;
  Verdict& verdict = say_now(ref.state, ref.stream, VerdictKind::credit_stall);
  verdict.other = credits.packet;
  verdict.elapsed = packet.time - credits.since;
}

}  // namespace roce::analysis
