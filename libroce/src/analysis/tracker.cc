// SPDX-License-Identifier: BSD-2-Clause
// The way of a packet through the tracker, and the functions of its interface.
#include "roce/analysis/tracker.h"

#include <algorithm>

#include "analysis/heuristics.h"
#include "analysis/move_to.h"
#include "analysis/saved_state.h"
#include "analysis/tracker_state.h"
#include "roce/wire/bth.h"
#include "roce/wire/constants.h"

namespace roce::analysis {

namespace {

constexpr std::string_view kStateKind = "RTRK";

bool is_ecn_capable(const Observation& packet) {
  return (packet.traffic_class & 3) != 0;
}

// Follows the silence of an end of a stream, which its packet at `now` ends.
void end_quiet(DirectionSummary& counts, Time now) {
  const Quiet quiet{counts.latest, now, counts.unheard};
  counts.longest_quiet = std::max(counts.longest_quiet, quiet.length());
  if (quiet.tries == 0) return;
  if (quiet.length() > counts.missed->length()) counts.missed.make() = quiet;
  Stalls& stalls = counts.stalls.make();
  const Quiet stall{std::max(counts.latest, stalls.asked), now, quiet.tries};
  if (stall.length() > stalls.longest.length()) stalls.longest = stall;
  counts.unheard = 0;
}

void count_larger(DirectionSummary& counts, const Observation& packet) {
  // A smaller one at the end of a message is not answered before those in front of it, whatever its size.
  if (packet.info().position == Position::last && packet.payload_length < counts.full_size) return;
  LargerRequests& larger = counts.larger.make();
  ++larger.packets;
  larger.least = std::min(larger.least, packet.payload_length);
}

void count(Stream& stream, std::uint8_t direction, const Observation& packet) {
  StreamSummary& summary = stream.summary;
  DirectionSummary& counts = summary.directions[direction];
  if (!counts.seen) {
    counts.seen = true;
    counts.latest = packet.time;
  }
  if (counts.unheard != 0 || packet.time - counts.latest > counts.longest_quiet) {
    end_quiet(counts, packet.time);
  }
  counts.latest = std::max(counts.latest, packet.time);
  ++counts.packets;
  counts.bytes += packet.wire_length;
  counts.ecn_capable += is_ecn_capable(packet) ? 1 : 0;
  summary.last = packet.id;
  summary.end = std::max(summary.end, packet.time);
  const OpcodeInfo& info = packet.info();
  if (info.operation == Operation::acknowledge) {
    ++counts.acks;
  } else if (info.is_response()) {
    counts.response_bytes += packet.payload_length;
  } else if (info.operation == Operation::cnp) {
    ++counts.cnps;
  } else {
    ++counts.request_packets;
    counts.request_bytes += packet.payload_length;
    if (counts.larger && packet.payload_length > counts.largest_arrived) count_larger(counts, packet);
  }
}

void follow_ip_id(Flow& flow, const Observation& packet) {
  if (!packet.has_ip_id || flow.ip_id_restarts) return;
  // Each super-frame begins with 0 again if the kernel segments what a socket sends (UDP_SEGMENT).
  if (packet.ip_id == 0 && flow.has_ip_id && flow.last_ip_id != 0 && flow.last_ip_id < heuristics::kMostSegments) {
    flow.ip_id_restarts = true;
    flow.ip_id_varies = false;
    return;
  }
  if (flow.has_ip_id && packet.ip_id != flow.last_ip_id) flow.ip_id_varies = true;
  flow.has_ip_id = true;
  // If packets overtook each other, the newest identification counts.
  if (static_cast<std::int16_t>(packet.ip_id - flow.last_ip_id) > 0 || !flow.ip_id_varies) {
    flow.last_ip_id = packet.ip_id;
  }
}

// A-CUT-4 (where frames hold several packets, a cut one may, too): true unless the payload is that of one packet.
bool may_be_several(const Observation& packet) {
  constexpr auto least = static_cast<std::uint32_t>(kSize<Bth>) + kIcrcSize;
  const PayloadRule rule = packet.info().payload;
  const bool is_free = rule == PayloadRule::one_to_mtu || rule == PayloadRule::zero_to_mtu;
  return packet.is_cut && is_free && !packet.has_reth && packet.payload_length > least;
}

PacketRole role_of(const Observation& packet) {
  const OpcodeInfo& info = packet.info();
  if (info.operation == Operation::cnp) return PacketRole::cnp;
  if (info.service == Service::ud) return packet.dest_qp == Qpn{1} ? PacketRole::management : PacketRole::datagram;
  return info.is_response() ? PacketRole::response : PacketRole::request;
}

// A-UD-1 (a QP numbers its datagrams one after the other, whoever they are for)
void follow_datagram(Stream& stream, const Observation& packet, std::uint32_t max_gap) {
  const std::int32_t ahead = packet.psn.distance_from(stream.newest_datagram);
  std::uint64_t& unseen = stream.summary.unseen_datagrams;
  if (stream.has_datagram && ahead <= 0) {
    // It was overtaken, or it is a copy.
    if (unseen != 0) --unseen;
    return;
  }
  if (stream.has_datagram && ahead <= static_cast<std::int64_t>(max_gap)) {
    unseen += static_cast<std::uint64_t>(ahead) - 1;
  }
  stream.has_datagram = true;
  stream.newest_datagram = packet.psn;
}

void note_corrupted(Stream& stream, std::uint8_t direction, const Observation& packet) {
  if (!stream.channels[direction]->requests_seen || packet.info().is_response()) return;
  Channel& channel = stream.channels[direction].make();
  channel.corrupted.push_back({long_psn(packet.psn, channel.next), packet.id});
  if (channel.corrupted.size() > heuristics::kCorruptedKept) channel.corrupted.pop_front();
}

}  // namespace

Tracker::Tracker(const TrackerOptions& options) : state_(std::make_unique<State>()) {
  state_->options = options;
}
Tracker::~Tracker() = default;
Tracker::Tracker(Tracker&&) noexcept = default;
Tracker& Tracker::operator=(Tracker&&) noexcept = default;

const PacketAnalysis& Tracker::observe(const Observation& observation) {
  TrackerState& state = *state_;
  state.result = PacketAnalysis{};
  state.immediate.clear();
  state.packet = &observation;
  if (observation.kind != PacketKind::roce || !observation.info().defined()) return state.result;
  // Packets that are cut off inside the transport headers,
  // or that contradict themselves, are not followed.
  if (!observation.is_whole) return state.result;

  PacketAnalysis& result = state.result;
  result.role = role_of(observation);
  if (observation.icrc_bad) {
    // A-ICRC-1 (nothing follows from the fields of a damaged packet): it must not begin a stream.
    if (Flow* flow = find_flow(state, observation)) {
      result.stream = flow->stream->index;
      result.direction = flow->direction;
      (void)say_now(state, *flow->stream, VerdictKind::bad_icrc);
      note_corrupted(*flow->stream, flow->direction, observation);
    } else {
      Verdict verdict;
      verdict.kind = VerdictKind::bad_icrc;
      verdict.stream = kNoStream;
      verdict.packet = observation.id;
      verdict.time = observation.time;
      verdict.first_psn = observation.psn;
      state.immediate.push_back(verdict);
    }
    result.verdicts = state.immediate;
    return result;
  }
  state.broken = rule_broken_by(observation);
  if (result.role == PacketRole::management) on_management(state);
  Flow& flow = flow_of(state, observation);
  touch(state, *flow.stream);
  if (observation.is_several || observation.id.segment != 0) flow.has_super_frames = true;
  state.is_several = observation.is_several || (flow.has_super_frames && may_be_several(observation));
  if (result.role == PacketRole::management) follow_management(state, *flow.stream);
  result.since_last = observation.time - flow.stream->last_time;
  Sighting sighting = Sighting::transmission;
  if (result.role == PacketRole::response) {
    if (flow.stream->flows[1] == nullptr && may_search(flow)) (void)join_by_response(state, flow);
    if (flow.stream->flows[1] != nullptr) (void)rejoin_by_response(state, flow);
    const std::uint8_t channel = flow.direction == 0 ? 1 : 0;
    sighting = on_response({state, *flow.stream, flow.stream->channels[channel].make(), channel}, flow);
  } else if (result.role == PacketRole::request) {
    sighting = on_request({state, *flow.stream, flow.stream->channels[flow.direction].make(), flow.direction}, flow);
  }
  if (result.role == PacketRole::datagram) follow_datagram(*flow.stream, observation, state.options.limits.max_gap);
  on_congestion(state, flow, sighting);
  if (result.role == PacketRole::cnp) judge_cnp(state, flow);
  follow_ip_id(flow, observation);
  Stream& stream = *flow.stream;
  if (state.broken != Rule::none && sighting != Sighting::copy) (void)say_broken(state, stream, state.broken);
  // A-CN-1 (CE is both ECN bits; a CNP goes to the QP that is to slow down)
  if (result.role == PacketRole::cnp) (void)say_now(state, stream, VerdictKind::cnp);
  if (observation.is_ce()) (void)say_now(state, stream, VerdictKind::ce_mark);
  result.stream = stream.index;
  result.direction = flow.direction;
  count(stream, flow.direction, observation);
  stream.last_time = observation.time;
  result.verdicts = state.immediate;
  return result;
}

void Tracker::finish() {
  TrackerState& state = *state_;
  while (state.oldest != nullptr) close_stream(state, *state.oldest);
  sort_by_end(state.messages);
  std::sort(state.closed.begin(), state.closed.end(),
            [](const StreamSummary& a, const StreamSummary& b) { return a.stream < b.stream; });
}

void Tracker::drain(std::vector<Verdict>& into) {
  move_to(state_->retrospective, into);
}

void Tracker::drain_messages(std::vector<Message>& into) {
  move_to(state_->messages, into);
}

void Tracker::drain_first_ends(std::vector<Message>& into) {
  move_to(state_->first_ends, into);
}

void Tracker::drain_answers(std::vector<Answer>& into) {
  move_to(state_->answers, into);
}

void Tracker::drain_closed(std::vector<StreamSummary>& into) {
  move_to(state_->closed, into);
}

std::vector<StreamSummary> Tracker::streams() const {
  std::vector<StreamSummary> all = open_streams(*state_);
  all.insert(all.end(), state_->closed.begin(), state_->closed.end());
  std::sort(all.begin(), all.end(), [](const StreamSummary& a, const StreamSummary& b) { return a.stream < b.stream; });
  return all;
}

std::size_t Tracker::stream_count() const {
  return state_->streams.size();
}

std::uint32_t Tracker::streams_begun() const {
  return state_->next_stream;
}

PacketId Tracker::longest_silent() const {
  return state_->oldest == nullptr ? PacketId{} : state_->oldest->summary.last;
}

void Tracker::evict_longest_silent() {
  ++state_->evictions.streams;
  close_stream(*state_, *state_->oldest);
}

const Evictions& Tracker::evictions() const {
  return state_->evictions;
}

std::vector<std::byte> Tracker::save() const {
  StateWriter archive;
  save_tracker(archive, *state_, StreamNumbers::kept);
  return std::move(archive).sealed(kStateKind);
}

tl::expected<void, StateError> Tracker::restore(Bytes state) {
  StateReader archive{state, kStateKind};
  Tracker restored{state_->options};
  load_tracker(archive, *restored.state_);
  return archive.end().map([&] { *this = std::move(restored); });
}

}  // namespace roce::analysis
