// SPDX-License-Identifier: BSD-2-Clause
// Messages: from the requests in PSN order, as they are acknowledged.
#include <algorithm>

#include "analysis/tracker_state.h"

namespace roce::analysis {

namespace {

MessageType type_of(Operation operation) {
  switch (operation) {
    case Operation::write:
      return MessageType::write;
    case Operation::read_request:
      return MessageType::read;
    case Operation::compare_swap:
    case Operation::fetch_add:
      return MessageType::atomic;
    case Operation::atomic_write:
      return MessageType::atomic_write;
    case Operation::flush:
      return MessageType::flush;
    default:
      return MessageType::send;
  }
}

void end_open(ChannelRef ref, MessageEnd end) {
  if (!ref.channel.ends->open->active) return;
  OpenMessage& open = ref.channel.ends.make().open.make();
  open.active = false;
  open.message.end = open.is_refused ? MessageEnd::refused : end;
  // A requester may break off a refused WRITE; its RETH says how long it was to be.
  if (open.is_refused) open.message.bytes = std::max<std::uint64_t>(open.message.bytes, open.length);
  open.message.finish = std::max(open.message.finish, open.message.start);
  end_message(ref, open);
  // Many connections have one message only.
  if (ref.channel.ends->walked == 1) ref.channel.ends.make().open = {};
}

// Appends a request to the open message; true if it ends it. A-MSG-1 (LAST or ONLY ends a message).
bool add(ChannelRef ref, const Request& request) {
  MessageEnds& ends = ref.channel.ends.make();
  const OpenMessage& before = *ends.open;
  const OpcodeInfo& info = request.info();
  const bool begins = info.position == Position::first || info.position == Position::only;
  // A refused message needs no more packets.
  const bool follows = before.next == request.psn || (before.is_refused && request.psn > before.next);
  if (before.active && (begins || !follows || before.operation != info.operation)) {
    end_open(ref, MessageEnd::incomplete);
  }
  OpenMessage& open = ends.open.make();
  if (!open.active) {
    open = OpenMessage{};
    open.active = true;
    open.operation = info.operation;
    Message& message = open.message;
    message.type = type_of(info.operation);
    message.number = ++ref.channel.ends.make().walked;
    message.start_seen = begins;
    message.first = request.first;
    message.first_psn = ref.wire(request.psn);
    message.start = request.first_time;
    if (begins && info.operation == Operation::write) open.length = request.length;
  }
  Message& message = open.message;
  open.next = request.end();
  message.last = request.first;
  message.start = std::min(message.start, request.first_time);
  if (!open.is_refused) message.finish = request.last_time;
  message.psn_count += request.span;
  message.bytes += info.operation == Operation::read_request ? request.length : request.payload;
  message.retransmissions += request.transmissions - 1U;
  message.has_immediate = message.has_immediate || info.immediate;
  message.has_invalidate = message.has_invalidate || info.invalidate;
  return info.position == Position::last || info.position == Position::only;
}

}  // namespace

void note_size_arrived(ChannelRef ref, const Request& request) {
  DirectionSummary& counts = ref.stream.summary.directions[ref.direction];
  if (request.payload <= counts.largest_arrived) return;
  counts.largest_arrived = request.payload;
  counts.larger = {};
}

// A-ACK-1 (an ACK covers all requests up to its PSN, but READs and atomics only with their own answers)
void acknowledge(ChannelRef ref, LongPsn end) {
  Channel& channel = ref.channel;
  const Observation& packet = ref.packet();
  while (channel.settled < channel.requests.size()) {
    Request& request = channel.requests[channel.settled];
    if (request.psn >= end) break;
    if (request.needs_own_answer()) {
      const Read* read = find_read(channel, request.psn);
      if (read != nullptr && !is_complete(channel, *read)) break;
    } else if (request.end() > end) {
      break;
    }
    request.acknowledged = true;
    ++ref.stream.summary.directions[ref.direction].arrived;
    note_size_arrived(ref, request);
    ++channel.settled;
    channel.acknowledged = std::max(channel.acknowledged, request.end());
    if (add(ref, request)) {
      Message& message = channel.ends.make().open.make().message;
      message.answer = packet.id;
      message.finish = packet.time;
      end_open(ref, MessageEnd::acknowledged);
    }
  }
  answer_awaited(ref);
}

// A-MSG-3 (a receiver drops an unreliable message of which a packet is missing)
void walk_unanswered(ChannelRef ref, const Request& request) {
  const OpenMessage& open = *ref.channel.ends->open;
  const Position position = request.info().position;
  const bool begins = position == Position::first || position == Position::only;
  const bool continues = open.active && open.next == request.psn && open.operation == request.info().operation;
  // A capture may begin inside a message: its earlier packets are not missing.
  if (!begins && !continues && ref.channel.ends->walked != 0) {
    end_open(ref, MessageEnd::incomplete);
    ref.channel.settled = ref.channel.requests.size();
    return;
  }
  if (add(ref, request)) end_open(ref, MessageEnd::sent);
  ref.channel.settled = ref.channel.requests.size();
}

namespace {

void end_refused(ChannelRef ref) {
  Message& message = ref.channel.ends.make().open.make().message;
  message.answer = ref.packet().id;
  message.finish = ref.packet().time;
  end_open(ref, MessageEnd::refused);
}

}  // namespace

// A-NAK-3 (NAKs other than for sequence errors end the message and the connection)
void refuse_message(ChannelRef ref, LongPsn psn) {
  Channel& channel = ref.channel;
  // The message of the refused packet ends here; the requests after it are never executed.
  while (channel.settled < channel.requests.size() && channel.requests[channel.settled].psn <= psn) {
    const Request& request = channel.requests[channel.settled++];
    const bool is_whole = add(ref, request);
    if (is_whole && request.end() <= psn) end_open(ref, MessageEnd::open);
    if (is_whole && request.end() > psn) return end_refused(ref);
  }
  if (!channel.ends->open->active) return;
  OpenMessage& open = channel.ends.make().open.make();
  open.is_refused = true;
  open.message.answer = ref.packet().id;
  open.message.finish = ref.packet().time;
  continue_refused(ref);
}

void continue_refused(ChannelRef ref) {
  Channel& channel = ref.channel;
  while (channel.ends->open->is_refused && channel.ends->open->active && channel.settled < channel.requests.size()) {
    const Request& request = channel.requests[channel.settled];
    const Position position = request.info().position;
    if (position == Position::first || position == Position::only) return end_open(ref, MessageEnd::refused);
    ++channel.settled;
    if (add(ref, request)) end_open(ref, MessageEnd::refused);
  }
}

void finish_messages(ChannelRef ref) {
  Channel& channel = ref.channel;
  settle_messages(ref, MessageEnds::kAll);
  while (channel.settled < channel.requests.size()) {
    const Request& request = channel.requests[channel.settled++];
    if (add(ref, request)) end_open(ref, MessageEnd::open);
  }
  end_open(ref, MessageEnd::open);
}

}  // namespace roce::analysis
