// SPDX-License-Identifier: BSD-2-Clause
// Which rules of docs/rules.md an end breaks. Effects that the capture itself may have (packets missed, copied, or put
// in another order) are never a reason for a verdict.
#include <algorithm>

#include "analysis/heuristics.h"
#include "analysis/tracker_state.h"
#include "roce/wire/constants.h"

namespace roce::analysis {

namespace {

bool begins(Position position) {
  return position == Position::first || position == Position::only;
}

bool ends(Position position) {
  return position == Position::last || position == Position::only;
}

// Returns how many packets of the flow were sent since `before`, by A-RULE-1 (IP identifications count); 0 if unknown.
std::int32_t sent_since(const LatestAeth& before, const Observation& packet) {
  const Duration elapsed = packet.time - before.time;
  if (!packet.has_ip_id || elapsed < Duration{} || elapsed > heuristics::kIdsAreInOrder) return 0;
  const auto ids = static_cast<std::int16_t>(packet.ip_id - before.ip_id);
  return ids > 0 && ids <= heuristics::kMostIds ? ids : 0;
}

// True if the payload fits the path MTU that the open message shows; the length of the message is not judged here.
bool fits_message(const RequestOrder& order, const Observation& packet) {
  switch (packet.info().position) {
    case Position::middle:
      return order.mtu == 0 || packet.payload_length == order.mtu;
    case Position::last:
      return order.mtu == 0 || packet.payload_length <= order.mtu;
    default:
      return true;
  }
}

// Returns the bytes of the WRITE still to come after the current packet; nullopt if it has too many or too few.
std::optional<std::uint32_t> left_after(const RequestOrder& order, const Observation& packet) {
  const Position position = packet.info().position;
  const std::uint32_t left = begins(position) ? packet.dma_length : order.left;
  if (ends(position) ? packet.payload_length != left : packet.payload_length >= left) return std::nullopt;
  return left - packet.payload_length;
}

Rule rule_broken_after(const RequestOrder& order, const Observation& packet) {
  const OpcodeInfo& info = packet.info();
  const bool continues = order.is_open && !begins(info.position) && info.operation == order.operation;
  // RC-REQ-30 (a message is FIRST, MIDDLE, LAST or ONLY of one operation)
  if (order.is_open ? !continues : !begins(info.position)) return Rule::request_order;
  // RC-REQ-02 (FIRST and MIDDLE carry exactly the path MTU, LAST at most that)
  if (packet.icrc_good && continues && !fits_message(order, packet)) return Rule::request_payload;
  return Rule::none;
}

void follow_request(RequestOrder& order, const Request& request, const Observation& packet, bool follows) {
  const OpcodeInfo& info = packet.info();
  const bool continues = follows && order.is_open && !begins(info.position);
  if (!continues) order.mtu = 0;
  if (info.position == Position::first || info.position == Position::middle) {
    order.mtu = static_cast<std::uint16_t>(is_path_mtu(packet.payload_length) ? packet.payload_length : 0);
  }
  order.operation = info.operation;
  order.is_open = !ends(info.position);
  order.next = request.end();
  // The PSN after a longer READ depends on the path MTU, which is not known for certain.
  order.is_known = !request.lacks_length && (info.operation != Operation::read_request || request.length <= kLeastMtu);
}

}  // namespace

Rule rule_broken_by(const Observation& packet) {
  // Several packets that were captured as one do not have a correct ICRC.
  if (!packet.icrc_good) return Rule::none;
  // W-BTH-2 (the transport header version is 0)
  if (packet.transport_version != 0) return Rule::transport_version;
  // W-PAD-1 (payload and pad are a multiple of 4 bytes)
  if (((packet.payload_length + packet.pad_count) & 3U) != 0) return Rule::padding;
  const OpcodeInfo& info = packet.info();
  // RC-REQ-02 (payload of FIRST, MIDDLE, LAST and ONLY), and the same for READ responses by RC-RESP-20
  const bool is_request = info.operation == Operation::send || info.operation == Operation::write;
  if ((!is_request && info.operation != Operation::read_response) || info.service == Service::ud) return Rule::none;
  const Rule rule = is_request ? Rule::request_payload : Rule::answer_order;
  switch (info.position) {
    case Position::first:
    case Position::middle:
      return is_path_mtu(packet.payload_length) ? Rule::none : rule;
    case Position::last:
      return packet.payload_length != 0 && packet.payload_length <= kMostMtu ? Rule::none : rule;
    case Position::only:
      break;
  }
  return packet.payload_length <= kMostMtu ? Rule::none : rule;
}

Verdict& say_broken(TrackerState& state, Stream& stream, Rule rule) {
  Verdict& verdict = say_now(state, stream, VerdictKind::rule_broken);
  verdict.rule = rule;
  stream.summary.broken.add(rule);
  return verdict;
}

void judge_request(ChannelRef ref, const Request& request) {
  // Reliable datagrams count PSNs for the pair of hosts, not for a QP.
  if (!ref.stream.is_connected) return;
  RequestOrder& order = ref.channel.order;
  const Observation& packet = ref.packet();
  const OpcodeInfo& info = packet.info();
  const bool follows = order.is_known && order.next == request.psn;
  Rule rule = Rule::none;
  if (follows && !ref.channel.in_doubt) rule = rule_broken_after(order, packet);
  if (rule != Rule::none || ref.state.broken != Rule::none) {
    // Nothing more is reported about a message that already breaks a rule.
    if (rule != Rule::none && ref.state.broken == Rule::none) (void)say_broken(ref.state, ref.stream, rule);
    order.is_known = false;
    return;
  }
  // RC-REQ-31 (the packets of a WRITE add up to the length in its RETH)
  const bool is_followed = info.operation == Operation::write && packet.icrc_good &&
                           (begins(info.position) ? packet.has_reth : follows && order.has_left);
  order.has_left = false;
  if (is_followed) {
    const std::optional<std::uint32_t> left = left_after(order, packet);
    order.has_left = left.has_value();
    order.left = left.value_or(0);
    if (!left) (void)say_broken(ref.state, ref.stream, Rule::write_length);
  }
  follow_request(order, request, packet, follows);
}

void judge_aeth(ChannelRef ref, LongPsn psn) {
  Channel& channel = ref.channel;
  const Observation& packet = ref.packet();
  if (!packet.has_aeth) {
    channel.aeth.is_sequence_error = false;
    return;
  }
  const bool is_sequence_error =
      packet.info().operation == Operation::acknowledge && packet.syndrome.nak_code() == NakCode::psn_sequence_error;
  LatestAeth& before = channel.aeth;
  const std::int32_t sent = before.is_known && !channel.in_doubt ? sent_since(before, packet) : 0;
  Rule rule = Rule::none;
  if (sent == 1 && is_sequence_error && before.is_sequence_error && before.psn == psn && before.msn == packet.msn) {
    // RC-RESP-02 (one NAK per gap): the missing request, had it come in between, would have been executed or answered.
    rule = Rule::one_nak_per_gap;
  } else if (sent > 0 && channel.requests_seen && psn > before.psn && psn - before.psn < heuristics::kAethApart &&
             before.msn.newer_than(packet.msn)) {
    // RC-RESP-17 (every AETH has the current MSN)
    rule = Rule::current_msn;
  }
  if (rule != Rule::none) {
    Verdict& verdict = say_broken(ref.state, ref.stream, rule);
    verdict.other = before.packet;
    verdict.elapsed = packet.time - before.time;
  }
  // An AETH that was overtaken is not the newest one.
  if (before.is_known && packet.has_ip_id && static_cast<std::int16_t>(packet.ip_id - before.ip_id) < 0 &&
      packet.time - before.time <= heuristics::kIdsAreInOrder) {
    return;
  }
  before = {true, is_sequence_error, packet.ip_id, packet.msn, psn, packet.id, packet.time};
}

void judge_answer(ChannelRef ref, Read& read, LongPsn psn) {
  const Observation& packet = ref.packet();
  const Position position = packet.info().position;
  if (!read.is_sure || !packet.icrc_good || ref.channel.in_doubt || ref.state.broken != Rule::none) return;
  // A response that repeats PSNs may answer a request for any part of the READ.
  if (psn < read.answer.highest) return;
  const bool is_full = position == Position::first || position == Position::middle;
  if (is_full && read.payload == 0) read.payload = static_cast<std::uint16_t>(packet.payload_length);
  Rule rule = Rule::none;
  if (is_full && packet.payload_length != read.payload) {
    rule = Rule::answer_order;
  } else if (psn == read.psn && !begins(position)) {
    // RC-RESP-20 (an answer begins with FIRST or ONLY): the answer to a READ's rest may go on with MIDDLE (rxe).
    if (read.is_original) rule = Rule::answer_order;
  } else if (psn == read.psn && position == Position::only) {
    if (packet.payload_length != read.length) rule = Rule::answer_length;
  } else if (read.payload != 0) {
    // RC-RESP-33 (the packets of a READ's answer add up to what it asked for)
    const auto before = static_cast<std::uint64_t>(psn - read.psn) * read.payload;
    const bool is_end = before + read.payload >= read.length;
    const bool fits = before <= read.length && (is_end ? before + packet.payload_length == read.length : is_full);
    if (!fits || (is_end && is_full)) rule = Rule::answer_length;
  }
  if (rule == Rule::none) return;
  read.is_sure = false;
  if (is_surely_joined(ref.state, ref.stream)) say_broken(ref.state, ref.stream, rule).other = read.request;
}

// CC-01 (at most one CNP per QP in an interval)
void judge_cnp(TrackerState& state, Flow& flow) {
  const Observation& packet = *state.packet;
  const Duration interval = state.options.cnp_interval;
  // Without IP identifications that count up, a copy looks like the next CNP.
  if (interval <= Duration{} || !packet.has_ip_id) return;
  LatestCnp& cnp = flow.cnp.make();
  const bool is_first = !cnp.packet || packet.time < cnp.time;
  if (!is_first && packet.ip_id == cnp.ip_id) return;
  const PacketId before = cnp.packet;
  const Duration elapsed = packet.time - cnp.time;
  cnp.packet = packet.id;
  cnp.ip_id = packet.ip_id;
  cnp.time = packet.time;
  cnp.due = is_first ? packet.time : std::max(cnp.due + interval, packet.time);
  if (cnp.due - packet.time <= heuristics::kCnpJitter) return;
  Verdict& verdict = say_broken(state, *flow.stream, Rule::cnp_interval);
  verdict.other = before;
  verdict.elapsed = elapsed;
  cnp.due = packet.time;
}

}  // namespace roce::analysis
