// SPDX-License-Identifier: BSD-2-Clause
// Which stream a packet belongs to; streams and flows begin and end here.
#include <bit>
#include <cstring>

#include "analysis/tracker_state.h"

namespace roce::analysis {

namespace {

bool is_connected(Service service) {
  return service == Service::rc || service == Service::uc || service == Service::xrc || service == Service::cnp;
}

// A-CON-1 (a direction is source, destination, destination QP); datagrams are told apart by the source QP, too.
FlowKey key_of(const Observation& packet) {
  FlowKey key{packet.source, packet.destination, packet.domain, packet.dest_qp.value(), packet.point};
  if (!is_connected(packet.info().service)) {
    key.domain ^= (static_cast<std::uint64_t>(packet.source_qp.value()) + 1) << 32U;
  }
  return key;
}

void unlink(TrackerState& state, Stream& stream) {
  (stream.older != nullptr ? stream.older->newer : state.oldest) = stream.newer;
  (stream.newer != nullptr ? stream.newer->older : state.newest) = stream.older;
  stream.older = stream.newer = nullptr;
}

void link_newest(TrackerState& state, Stream& stream) {
  stream.older = state.newest;
  stream.newer = nullptr;
  (state.newest != nullptr ? state.newest->newer : state.oldest) = &stream;
  state.newest = &stream;
}

Stream& new_stream(TrackerState& state, Flow& flow) {
  if (state.oldest != nullptr && state.streams.size() >= state.options.limits.streams) {
    ++state.evictions.streams;
    close_stream(state, *state.oldest);
  }
  auto owned = std::make_unique<Stream>();
  Stream& stream = *owned;
  stream.index = state.next_stream++;
  state.streams.emplace(stream.index, std::move(owned));
  stream.flows[0] = &flow;
  flow.stream = &stream;
  flow.direction = 0;
  const Observation& packet = *state.packet;
  StreamSummary& summary = stream.summary;
  stream.is_connected = is_connected(packet.info().service);
  summary.stream = stream.index;
  summary.point = packet.point;
  summary.version = packet.version;
  summary.service = packet.info().service;
  summary.domain = packet.domain;
  summary.ends = {packet.source, packet.destination};
  summary.qpns[1] = packet.dest_qp;
  if (!stream.is_connected) summary.qpns[0] = packet.source_qp;
  summary.first = packet.id;
  summary.start = packet.time;
  stream.last_time = packet.time;
  link_newest(state, stream);
  return stream;
}

}  // namespace

std::uint64_t hash_of(const FlowKey& key) {
  std::array<std::uint64_t, 4> words{};
  std::memcpy(words.data(), key.source.octets.data(), 16);
  std::memcpy(words.data() + 2, key.destination.octets.data(), 16);
  constexpr std::uint64_t multiplier = 0x9E37'79B9'7F4A'7C15;
  std::uint64_t hash = key.domain ^ (static_cast<std::uint64_t>(key.qpn) << 40U) ^ (std::uint64_t{key.point} << 24U);
  for (const std::uint64_t word : words) hash = std::rotl((hash ^ word) * multiplier, 29);
  return hash ^ hash >> 32U;
}

Flow* find_flow(TrackerState& state, const Observation& packet) {
  const auto found = state.flows.find(key_of(packet));
  return found == state.flows.end() ? nullptr : found->get();
}

Flow& flow_of(TrackerState& state, const Observation& packet) {
  const FlowKey key = key_of(packet);
  Flow*& recent = state.recent_flows[hash_of(key) % state.recent_flows.size()];
  if (recent != nullptr && recent->key == key) return *recent;
  if (const auto found = state.flows.find(key); found != state.flows.end()) {
    recent = found->get();
    return *recent;
  }
  Flow* flow = nullptr;
  {
    auto owned = std::make_unique<Flow>();
    owned->key = key;
    owned->udp_source_port = packet.udp_source_port;
    flow = owned.get();
    state.flows.insert(std::move(owned));
  }
  // A known connection is joined before a stream is made for the flow, so that no stream number is wasted.
  if (is_connected(packet.info().service)) {
    join_by_cm(state, *flow);
    if (flow->stream == nullptr && packet.info().is_response()) (void)join_by_response(state, *flow);
  }
  if (flow->stream == nullptr) new_stream(state, *flow);
  return *flow;
}

void touch(TrackerState& state, Stream& stream) {
  if (state.newest == &stream) return;
  unlink(state, stream);
  link_newest(state, stream);
}

void close_stream(TrackerState& state, Stream& stream, const Flow* kept) {
  for (std::uint8_t direction = 0; direction < 2; ++direction) {
    if (Lazy<Channel>& channel = stream.channels[direction]) {
      finish_channel({state, stream, channel.make(), direction});
    }
  }
  stream.summary.path_mtu = stream.path_mtu;
  state.closed.push_back(stream.summary);
  unlink(state, stream);
  for (Flow* flow : stream.flows) {
    if (flow == nullptr) continue;
    flow->stream = nullptr;
    const FlowKey key = flow->key;
    if (flow == kept) continue;
    state.recent_flows[hash_of(key) % state.recent_flows.size()] = nullptr;
    state.flows.erase(state.flows.find(key));
  }
  state.streams.erase(stream.index);
}

void begin_anew(TrackerState& state, Flow& flow) {
  Stream& before = *flow.stream;
  for (std::uint8_t direction = 0; direction < 2; ++direction) {
    if (Lazy<Channel>& channel = before.channels[direction]) {
      finish_channel({state, before, channel.make(), direction});
    }
  }
  before.summary.path_mtu = before.path_mtu;
  state.closed.push_back(before.summary);
  unlink(state, before);
  Flow* const other = before.flows[flow.direction == 0 ? 1 : 0];
  const std::uint32_t index = before.index;
  const std::uint16_t mtu = before.path_mtu;
  // This comes before the new stream is made, so that no other stream has to be closed for it.
  state.streams.erase(index);
  // Both directions keep their QP numbers.
  Stream& stream = new_stream(state, flow);
  if (other != nullptr) {
    stream.flows[1] = other;
    other->stream = &stream;
    other->direction = 1;
    stream.summary.joined = true;
    stream.summary.qpns[0] = Qpn{other->key.qpn};
  }
  stream.path_mtu = mtu;
}

Verdict& say_now(TrackerState& state, Stream& stream, VerdictKind kind) {
  const Observation& packet = *state.packet;
  Verdict verdict;
  verdict.kind = kind;
  verdict.point = packet.point;
  verdict.stream = stream.index;
  verdict.packet = packet.id;
  verdict.time = packet.time;
  verdict.first_psn = packet.psn;
  stream.summary.verdicts.add(kind);
  return state.immediate.emplace_back(verdict);
}

Verdict& say_later(TrackerState& state, Stream& stream, VerdictKind kind, PacketId about, Time time) {
  Verdict verdict;
  verdict.kind = kind;
  verdict.point = stream.summary.point;
  verdict.stream = stream.index;
  verdict.packet = about;
  verdict.time = time;
  stream.summary.verdicts.add(kind);
  return state.retrospective.emplace_back(verdict);
}

}  // namespace roce::analysis
