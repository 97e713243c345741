// SPDX-License-Identifier: BSD-2-Clause
// How many PSNs a READ takes: as many as its answer has packets, which is a guess while the path MTU is unknown.
#include <algorithm>

#include "analysis/tracker_state.h"
#include "roce/wire/constants.h"

namespace roce::analysis {

namespace {

// More than half of all PSNs cannot be requested at once: such a length is not believed.
constexpr std::uint32_t kMostSpan = 0x7F'FFFF;

std::uint32_t packets_for(std::uint32_t length, std::uint32_t mtu) {
  return std::max(1U, static_cast<std::uint32_t>((std::uint64_t{length} + mtu - 1) / mtu));
}

// Sets how many PSNs the READ takes, here and in what follows its answer.
void resize(Channel& channel, Request& request, std::uint32_t span) {
  const LongPsn before = request.end();
  request.span = span;
  if (Read* const read = find_read(channel, request.psn); read != nullptr && read->psn == request.psn) {
    if (read->answer.other == read->end()) read->answer.other = request.end();
    read->span = span;
  }
  if (channel.restart->active && channel.restart->next == before) channel.restart.make().next = request.end();
}

void insert_gap(Channel& channel, LongPsn first, LongPsn end, PacketId revealed_by, Time revealed_at) {
  Gap gap;
  gap.first = first;
  gap.count = static_cast<std::uint32_t>(end - first);
  gap.revealed_by = revealed_by;
  gap.revealed_at = revealed_at;
  RareRing<Gap>& gaps = channel.gaps;
  std::size_t at = gaps.size();
  while (at > 0 && gaps[at - 1].first > gap.first) --at;
  if (at < gaps.size() && gaps[at].first == gap.end() && !gaps[at].acknowledged_by) {
    // The hole began where the READ ends, so that one packet may fill it all.
    gaps[at].first = gap.first;
    gaps[at].count += gap.count;
  } else {
    gaps.insert(at, gap);
  }
}

// True if the packet asks for the rest of the READ from `psn` on: it leaves out as many whole packets as PSNs. It may
// if the length of either is unknown.
bool asks_for_rest(const Request& read, const Observation& packet, LongPsn psn) {
  if (packet.info().operation != Operation::read_request) return false;
  if (read.lacks_length || packet.lacks_length()) return true;
  if (packet.dma_length >= read.length) return false;
  const std::uint32_t answered = read.length - packet.dma_length;
  const auto packets = static_cast<std::uint32_t>(psn - read.psn);
  return answered % packets == 0 && is_path_mtu(answered / packets);
}

}  // namespace

// A-PSN-2 (a READ takes as many PSNs as its answer has packets of the path MTU)
void set_read_span(ChannelRef ref, Request& request) {
  if (request.info().operation != Operation::read_request && !request.lacks_length) return;
  Channel& channel = ref.channel;
  const std::uint16_t mtu = ref.stream.path_mtu;
  if (request.lacks_length) {
    // A-CUT-2 (a READ of unknown length takes all PSNs up to the next request that was seen)
    request.span_is_guess = true;
    channel.next_max = request.psn + static_cast<LongPsn>(ref.state.options.limits.max_gap);
    return;
  }
  request.span = packets_for(request.length, mtu != 0 ? mtu : kMostMtu);
  request.span_is_guess = mtu == 0 && request.length > kLeastMtu;
  request.span = std::min(request.span, kMostSpan);
  channel.next_max =
      request.span_is_guess ? request.psn + std::min(packets_for(request.length, kLeastMtu), kMostSpan) : 0;
}

void set_read_span_in(ChannelRef ref, Request& request, LongPsn end) {
  set_read_span(ref, request);
  if (request.lacks_length) request.span = static_cast<std::uint32_t>(end - request.psn);
  if (request.lacks_length) return;
  // While the path MTU is unknown, the READ takes as many of the missing PSNs as it can.
  for (std::uint32_t mtu = kLeastMtu; request.span_is_guess && mtu <= kMostMtu; mtu *= 2) {
    const std::uint32_t span = packets_for(request.length, mtu);
    if (request.psn + span > end) continue;
    request.span = span;
    break;
  }
}

void learn_mtu(Stream& stream, std::uint32_t mtu) {
  if (stream.path_mtu != 0 || !is_path_mtu(mtu)) return;
  stream.path_mtu = static_cast<std::uint16_t>(mtu);
  for (Lazy<Channel>& each : stream.channels) {
    if (!each) continue;
    Channel& channel = each.make();
    for (std::size_t i = 0; i < channel.requests.size(); ++i) {
      Request& request = channel.requests[i];
      if (!request.span_is_guess || request.lacks_length) continue;
      const LongPsn guessed_end = request.end();
      resize(channel, request, std::min(packets_for(request.length, mtu), kMostSpan));
      request.span_is_guess = false;
      if (i + 1 == channel.requests.size()) {
        channel.next = std::max(channel.next, request.end());
      } else if (const Request& later = channel.requests[i + 1]; request.end() < std::min(guessed_end, later.psn)) {
        insert_gap(channel, request.end(), std::min(guessed_end, later.psn), later.first, later.first_time);
      }
    }
    const bool is_open = !channel.requests.empty() && channel.requests.back().lacks_length;
    if (!is_open) channel.next_max = 0;
  }
}

void settle_guess(ChannelRef ref, LongPsn psn) {
  Channel& channel = ref.channel;
  if (channel.next_max <= channel.next || psn <= channel.next || channel.requests.empty()) return;
  Request& read = channel.requests.back();
  LongPsn next = read.lacks_length ? psn : channel.next;
  for (std::uint32_t mtu = kLeastMtu; mtu <= kMostMtu && !read.lacks_length; mtu *= 2) {
    const LongPsn end = read.psn + packets_for(read.length, mtu);
    if (end <= psn) next = std::max(next, end);
  }
  // PSNs that the READ may have taken are not missing for certain. With a hole after the READ the guess is too large;
  // the packets that come in its place then correct it.
  if (next > channel.next_max) return;
  channel.next = next;
  resize(channel, read, static_cast<std::uint32_t>(next - read.psn));
}

bool corrects_guess(ChannelRef ref, Request& read, LongPsn psn) {
  if (!read.span_is_guess || psn == read.psn || asks_for_rest(read, ref.packet(), psn)) return false;
  const std::size_t next = place_of(ref.channel, read.psn);
  if (read.lacks_length && next < ref.channel.requests.size()) {
    const Request& revealing = ref.channel.requests[next];
    insert_gap(ref.channel, psn, read.end(), revealing.first, revealing.first_time);
  } else {
    insert_gap(ref.channel, psn, read.end(), ref.packet().id, ref.packet().time);
  }
  resize(ref.channel, read, static_cast<std::uint32_t>(psn - read.psn));
  return true;
}

void learn_mtu_of_last(ChannelRef ref, LongPsn psn) {
  const Observation& packet = ref.packet();
  if (ref.stream.path_mtu != 0 || packet.info().position != Position::last) return;
  const std::size_t next = place_of(ref.channel, psn);
  if (next == 0) return;
  const Request& read = ref.channel.requests[next - 1];
  if (!read.span_is_guess || read.lacks_length || read.psn >= psn || read.length <= packet.payload_length) return;
  const auto packets = static_cast<std::uint32_t>(psn - read.psn);
  const std::uint32_t before = read.length - packet.payload_length;
  if (before % packets == 0) learn_mtu(ref.stream, before / packets);
}

void follow_length(ChannelRef ref, LongPsn psn) {
  Channel& channel = ref.channel;
  if (!channel.lacks_lengths) return;
  const Observation& packet = ref.packet();
  const std::size_t next = place_of(channel, psn);
  if (next == 0 || !channel.requests[next - 1].lacks_length || !channel.requests[next - 1].needs_own_answer()) return;
  Request& request = channel.requests[next - 1];
  const bool is_newest = next == channel.requests.size() && channel.next_max != 0;
  const Position position = packet.info().position;
  const bool is_end = position == Position::last || position == Position::only;
  const LongPsn end = psn + (is_end ? 1 : 2);
  if (end - request.psn > static_cast<LongPsn>(ref.state.options.limits.max_gap)) return;
  if (!is_newest && end > request.end()) return;
  if (end < request.end() && !is_end) return;
  if (!is_newest && end < request.end() && next < channel.requests.size()) {
    insert_gap(channel, end, request.end(), channel.requests[next].first, channel.requests[next].first_time);
  }
  resize(channel, request, static_cast<std::uint32_t>(end - request.psn));
  if (is_newest) channel.next = end;
  if (!is_end) return;
  if (is_newest) channel.next_max = 0;
  request.lacks_length = request.span_is_guess = false;
  request.length = (request.span - 1) * ref.stream.path_mtu + packet.payload_length;
  if (Read* const read = find_read(channel, request.psn); read != nullptr && read->psn == request.psn) {
    read->lacks_length = false;
    read->length = request.length;
  }
}

}  // namespace roce::analysis
