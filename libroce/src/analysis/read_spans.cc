// SPDX-License-Identifier: BSD-2-Clause
// How many PSNs a READ takes: as many as its answer has packets, which is a guess while the path MTU is unknown.
#include <algorithm>

#include "analysis/tracker_state.h"

namespace roce::analysis {

namespace {

// More than half of all PSNs cannot be requested at once: such a length is not believed.
constexpr std::uint32_t kMostSpan = 0x7F'FFFF;

std::uint32_t packets_for(std::uint32_t length, std::uint32_t mtu) {
  return std::max(1U, static_cast<std::uint32_t>((std::uint64_t{length} + mtu - 1) / mtu));
}

// True if the packet asks for the rest of the READ from `psn` on: it leaves out as many whole packets as PSNs.
bool asks_for_rest(const Request& read, const Observation& packet, LongPsn psn) {
  if (packet.info().operation != Operation::read_request || packet.dma_length >= read.length) return false;
  const std::uint32_t answered = read.length - packet.dma_length;
  const auto packets = static_cast<std::uint32_t>(psn - read.psn);
  return answered % packets == 0 && is_mtu(answered / packets);
}

}  // namespace

// A-PSN-2 (a READ takes as many PSNs as its answer has packets of the path MTU)
void set_read_span(ChannelRef ref, Request& request) {
  if (request.info().operation != Operation::read_request) return;
  Channel& channel = ref.channel;
  const std::uint16_t mtu = ref.stream.path_mtu;
  request.span = packets_for(request.length, mtu != 0 ? mtu : kMostMtu);
  request.span_is_guess = mtu == 0 && request.length > kLeastMtu;
  request.span = std::min(request.span, kMostSpan);
  channel.next_max =
      request.span_is_guess ? request.psn + std::min(packets_for(request.length, kLeastMtu), kMostSpan) : 0;
}

void set_read_span_in(ChannelRef ref, Request& request, const Gap& gap) {
  set_read_span(ref, request);
  // While the path MTU is unknown, the READ takes as many of the missing PSNs as it can.
  for (std::uint32_t mtu = kLeastMtu; request.span_is_guess && mtu <= kMostMtu; mtu *= 2) {
    const std::uint32_t span = packets_for(request.length, mtu);
    if (request.psn + span > gap.end()) continue;
    request.span = span;
    break;
  }
}

void learn_mtu(Stream& stream, std::uint32_t mtu) {
  if (stream.path_mtu != 0 || !is_mtu(mtu)) return;
  stream.path_mtu = static_cast<std::uint16_t>(mtu);
  for (Lazy<Channel>& each : stream.channels) {
    if (!each) continue;
    Channel& channel = each.make();
    for (std::size_t i = 0; i < channel.requests.size(); ++i) {
      Request& request = channel.requests[i];
      if (!request.span_is_guess) continue;
      request.span = std::min(packets_for(request.length, mtu), kMostSpan);
      request.span_is_guess = false;
      if (i + 1 == channel.requests.size()) channel.next = std::max(channel.next, request.end());
    }
    for (std::size_t i = 0; i < channel.reads.size(); ++i) {
      const std::size_t at = find_request(channel, channel.reads[i].psn);
      if (at >= channel.requests.size()) continue;
      Read& read = channel.reads[i];
      const LongPsn guess = read.end();
      read.span = channel.requests[at].span;
      if (read.answer.other == guess) read.answer.other = read.end();
    }
    channel.next_max = 0;
  }
}

void settle_guess(ChannelRef ref, LongPsn psn) {
  Channel& channel = ref.channel;
  if (channel.next_max <= channel.next || psn <= channel.next || channel.requests.empty()) return;
  Request& read = channel.requests.back();
  LongPsn next = channel.next;
  for (std::uint32_t mtu = kLeastMtu; mtu <= kMostMtu; mtu *= 2) {
    const LongPsn end = read.psn + packets_for(read.length, mtu);
    if (end <= psn) next = std::max(next, end);
  }
  // PSNs that the READ may have taken are not missing for certain. With a hole after the READ the guess is too large;
  // the packets that come in its place then correct it.
  channel.next = next;
  read.span = static_cast<std::uint32_t>(next - read.psn);
  if (Read* waiting = find_read(channel, read.psn)) waiting->span = read.span;
}

bool corrects_guess(ChannelRef ref, Request& read, LongPsn psn) {
  if (!read.span_is_guess || psn == read.psn || asks_for_rest(read, ref.packet(), psn)) return false;
  Gap gap;
  gap.first = psn;
  gap.count = static_cast<std::uint32_t>(read.end() - psn);
  gap.revealed_by = ref.packet().id;
  gap.revealed_at = ref.packet().time;
  read.span = static_cast<std::uint32_t>(psn - read.psn);
  if (Read* waiting = find_read(ref.channel, read.psn)) waiting->span = read.span;
  std::size_t at = ref.channel.gaps.size();
  while (at > 0 && ref.channel.gaps[at - 1].first > gap.first) --at;
  RareRing<Gap>& gaps = ref.channel.gaps;
  if (at < gaps.size() && gaps[at].first == gap.end() && !gaps[at].acknowledged_by) {
    // The hole began where the READ ends, so that one packet may fill it all.
    gaps[at].first = gap.first;
    gaps[at].count += gap.count;
  } else {
    gaps.insert(at, gap);
  }
  return true;
}

}  // namespace roce::analysis
