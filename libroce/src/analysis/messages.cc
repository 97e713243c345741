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

void emit(ChannelRef ref, Message message) {
  message.stream = ref.stream.index;
  message.direction = ref.direction;
  DirectionSummary& direction = ref.stream.summary.directions[ref.direction];
  if (message.end == MessageEnd::acknowledged || message.end == MessageEnd::sent) {
    ++direction.messages[static_cast<std::size_t>(message.type)];
    direction.goodput_bytes += message.bytes;
    if (message.start_seen) direction.latency.add(message.latency());
  } else if (message.end == MessageEnd::refused) {
    ++direction.messages_refused;
  }
  if (ref.state.options.keep_messages) ref.state.messages.push_back(message);
}

void end_open(ChannelRef ref, MessageEnd end) {
  OpenMessage& open = ref.channel.open;
  if (!open.active) return;
  open.active = false;
  open.message.end = end;
  open.message.finish = std::max(open.message.finish, open.message.start);
  emit(ref, open.message);
}

// Appends a request to the open message; true if it ends it. A-MSG-1 (LAST or ONLY ends a message).
bool add(ChannelRef ref, const Request& request) {
  OpenMessage& open = ref.channel.open;
  const OpcodeInfo& info = request.info();
  const bool begins = info.position == Position::first || info.position == Position::only;
  if (open.active && (begins || open.next != request.psn || open.operation != info.operation)) {
    end_open(ref, MessageEnd::incomplete);
  }
  if (!open.active) {
    open = OpenMessage{};
    open.active = true;
    open.operation = info.operation;
    Message& message = open.message;
    message.type = type_of(info.operation);
    message.number = ++ref.channel.messages_walked;
    message.start_seen = begins;
    message.first = request.first;
    message.first_psn = ref.wire(request.psn);
    message.start = request.first_time;
  }
  Message& message = open.message;
  open.next = request.end();
  message.last = request.first;
  message.start = std::min(message.start, request.first_time);
  message.finish = request.last_time;
  message.psn_count += request.span;
  message.bytes += info.operation == Operation::read_request ? request.length : request.payload;
  message.retransmissions += request.transmissions - 1U;
  message.has_immediate = message.has_immediate || info.immediate;
  message.has_invalidate = message.has_invalidate || info.invalidate;
  return info.position == Position::last || info.position == Position::only;
}

}  // namespace

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
    ++channel.settled;
    channel.acknowledged = std::max(channel.acknowledged, request.end());
    if (add(ref, request)) {
      Message& message = channel.open.message;
      message.answer = packet.id;
      message.finish = packet.time;
      end_open(ref, MessageEnd::acknowledged);
    }
  }
}

// A-MSG-2 (a receiver drops an unreliable message of which a packet is missing)
void walk_unanswered(ChannelRef ref, const Request& request) {
  const OpenMessage& open = ref.channel.open;
  const Position position = request.info().position;
  const bool begins = position == Position::first || position == Position::only;
  const bool continues = open.active && open.next == request.psn && open.operation == request.info().operation;
  // Where the capture begins inside a message, what came before it is not missing.
  if (!begins && !continues && ref.channel.messages_walked != 0) {
    end_open(ref, MessageEnd::incomplete);
    ref.channel.settled = ref.channel.requests.size();
    return;
  }
  if (add(ref, request)) end_open(ref, MessageEnd::sent);
  ref.channel.settled = ref.channel.requests.size();
}

// A-NAK-3 (NAKs other than for sequence errors end the message and the connection)
void refuse_message(ChannelRef ref, LongPsn psn) {
  Channel& channel = ref.channel;
  // The message of the refused packet ends here; the requests after it are never executed.
  while (channel.settled < channel.requests.size()) {
    const Request& request = channel.requests[channel.settled];
    if (request.psn > psn) break;
    ++channel.settled;
    (void)add(ref, request);
  }
  channel.open.message.answer = ref.packet().id;
  channel.open.message.finish = ref.packet().time;
  end_open(ref, MessageEnd::refused);
}

void finish_messages(ChannelRef ref) {
  Channel& channel = ref.channel;
  while (channel.settled < channel.requests.size()) {
    const Request& request = channel.requests[channel.settled++];
    if (add(ref, request)) end_open(ref, MessageEnd::open);
  }
  end_open(ref, MessageEnd::open);
}

}  // namespace roce::analysis
