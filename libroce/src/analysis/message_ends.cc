// SPDX-License-Identifier: BSD-2-Clause
// When messages ended: an answer that was seen and did not reach the requester ends nothing.
#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "analysis/heuristics.h"
#include "analysis/tracker_state.h"

namespace roce::analysis {

namespace {

void count(const Message& message, DirectionSummary& direction) {
  if (message.end == MessageEnd::acknowledged || message.end == MessageEnd::sent) {
    ++direction.messages[static_cast<std::size_t>(message.type)];
    direction.goodput_bytes += message.bytes;
    if (message.start_seen) direction.latency.add(message.latency());
  } else if (message.end == MessageEnd::refused) {
    ++direction.messages_refused;
  }
}

void keep(ChannelRef ref, const Message& message, std::vector<Message>& messages) {
  messages.push_back(message);
  messages.back().stream = ref.stream.index;
  messages.back().direction = ref.direction;
}

void emit(ChannelRef ref, const Message& message) {
  count(message, ref.stream.summary.directions[ref.direction]);
  if (ref.state.options.keep_messages) keep(ref, message, ref.state.messages);
}

// True if a later message than the oldest was acknowledged, so that this one was, too.
bool was_passed(const Ring<EndedMessage>& ended) {
  for (std::size_t i = 1; i < ended.size(); ++i) {
    if (ended[i].message.end == MessageEnd::acknowledged) return true;
  }
  return false;
}

void settle_oldest(ChannelRef ref) {
  MessageEnds& ends = ref.channel.ends.make();
  EndedMessage& oldest = ends.ended.front();
  if (oldest.is_awaited()) {
    --ends.awaited;
    if (was_passed(ends.ended)) oldest.message.end = MessageEnd::incomplete;
  }
  emit(ref, oldest.message);
  ends.ended.pop_front();
}

// Takes back the end of a message.
void reopen(MessageEnds& ends, EndedMessage& ended) {
  ended.message.end = MessageEnd::open;
  ended.message.answer = {};
  ++ends.awaited;
}

// True if the requester did not have the answer to the message when it went back: the answer had time to arrive.
bool had_no_answer(const Channel& channel, const Restart& restart, const Message& message, Time now) {
  const bool knows_latency = channel.least_latency != Duration::max();
  const bool had_time = knows_latency && now - message.finish >= channel.least_latency;
  switch (restart.likely_cause()) {
    case Cause::timeout:
      return had_time || !knows_latency;
    case Cause::implied_nak:
      return had_time || message.finish <= restart.reason_time;
    default:
      return false;
  }
}

bool needs_own_answer(MessageType type) {
  return type != MessageType::send && type != MessageType::write;
}

}  // namespace

void end_message(ChannelRef ref, const OpenMessage& open) {
  MessageEnds& ends = ref.channel.ends.make();
  if (ref.state.options.keep_first_ends) keep(ref, open.message, ref.state.first_ends);
  const MessageEnd end = open.message.end;
  // Those that came before it are reported first.
  if (ends.ended.empty() && end != MessageEnd::acknowledged) return emit(ref, open.message);
  EndedMessage& ended = ends.ended.push_back({open.message, open.next});
  if (end == MessageEnd::open) {
    ++ends.awaited;
  } else if (end == MessageEnd::acknowledged && ended.end > ends.heard) {
    // The response that acknowledges it came before its requester went back, and has not reached it.
    reopen(ends, ended);
  }
  if (ends.ended.size() > heuristics::kEndedKept) settle_oldest(ref);
}

void settle_messages(ChannelRef ref, LongPsn end) {
  while (!ref.channel.ends->ended.empty() && ref.channel.ends->ended.front().end <= end) settle_oldest(ref);
}

void hear(Channel& channel, LongPsn end) {
  if (channel.ends->heard < end) channel.ends.make().heard = end;
}

// A-MSG-2 (a message ends with an answer that its requester can have received)
void reopen_messages(ChannelRef ref, const Restart& restart) {
  const Cause cause = restart.likely_cause();
  if (cause != Cause::timeout && cause != Cause::implied_nak) return;
  if (ref.channel.ends->ended.empty()) return;
  MessageEnds& ends = ref.channel.ends.make();
  // Messages end in their order: those after one that has not ended have not, either.
  bool any = false;
  for (std::size_t i = 0; i < ends.ended.size(); ++i) {
    EndedMessage& ended = ends.ended[i];
    if (ended.end <= restart.first || ended.message.end != MessageEnd::acknowledged) continue;
    if (!any && !had_no_answer(ref.channel, restart, ended.message, ref.packet().time)) continue;
    reopen(ends, ended);
    any = true;
  }
  if (any) ends.heard = restart.first;
}

void answer_awaited(ChannelRef ref) {
  if (ref.channel.ends->awaited == 0) return;
  MessageEnds& ends = ref.channel.ends.make();
  for (std::size_t i = 0; i < ends.ended.size() && ends.awaited != 0; ++i) {
    EndedMessage& ended = ends.ended[i];
    if (!ended.is_awaited()) continue;
    if (ended.end > ends.heard) return;
    const Read* const read = needs_own_answer(ended.message.type) ? find_read(ref.channel, ended.first()) : nullptr;
    if (read != nullptr && !is_complete(ref.channel, *read)) return;
    --ends.awaited;
    ended.message.end = MessageEnd::acknowledged;
    ended.message.answer = ref.packet().id;
    ended.message.finish = ref.packet().time;
  }
}

std::optional<LongPsn> oldest_awaited(const Channel& channel) {
  const MessageEnds& ends = *channel.ends;
  for (std::size_t i = 0; i < ends.ended.size() && ends.awaited != 0; ++i) {
    if (ends.ended[i].is_awaited()) return std::max(ends.ended[i].first(), ends.heard);
  }
  return std::nullopt;
}

void doubt_answers(Channel& channel, LongPsn psn, Time since) {
  if (channel.ends->ended.empty()) return;
  MessageEnds& ends = channel.ends.make();
  for (std::size_t i = ends.ended.size(); i-- > 0;) {
    EndedMessage& ended = ends.ended[i];
    if (ended.end <= psn) return;
    if (ended.message.end == MessageEnd::acknowledged && ended.message.finish >= since) reopen(ends, ended);
  }
}

void count_repeat(ChannelRef ref, LongPsn psn) {
  if (!ref.channel.ends) return;
  MessageEnds& ends = ref.channel.ends.make();
  if (ends.open->active && ends.open->covers(psn)) {
    ++ends.open.make().message.retransmissions;
    return;
  }
  for (std::size_t i = ends.ended.size(); i-- > 0;) {
    EndedMessage& ended = ends.ended[i];
    if (psn >= ended.end) return;
    if (psn < ended.first()) continue;
    ++ended.message.retransmissions;
    return;
  }
}

void sort_by_end(std::vector<Message>& messages) {
  std::ranges::sort(messages, {}, [](const Message& message) {
    return std::tuple{message.end == MessageEnd::open, message.finish, message.first};
  });
}

void count_ended(const Channel& channel, DirectionSummary& direction) {
  const Ring<EndedMessage>& ended = channel.ends->ended;
  for (std::size_t i = 0; i < ended.size(); ++i) count(ended[i].message, direction);
}

}  // namespace roce::analysis
