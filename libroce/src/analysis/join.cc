// SPDX-License-Identifier: BSD-2-Clause
// Which two flows are the directions of one connection: by the connection management, or by PSNs and UDP source ports.
#include <algorithm>
#include <array>
#include <utility>

#include "analysis/heuristics.h"
#include "analysis/tracker_state.h"

namespace roce::analysis {

namespace {

bool is_reverse(const Flow& flow, const Flow& other) {
  return flow.key.source == other.key.destination && flow.key.destination == other.key.source &&
         flow.key.domain == other.key.domain && flow.key.point == other.key.point;
}

bool is_between_same_hosts(const FlowKey& a, const FlowKey& b) {
  return a.domain == b.domain && a.point == b.point &&
         ((a.source == b.source && a.destination == b.destination) ||
          (a.source == b.destination && a.destination == b.source));
}

// Makes `flow` direction 1 of `stream`. If it had a stream, what was known of its requests is kept.
void adopt(TrackerState& state, Stream& stream, Flow& flow) {
  Stream* const before = flow.stream;
  stream.flows[1] = &flow;
  flow.direction = 1;
  flow.stream = &stream;
  StreamSummary& summary = stream.summary;
  summary.joined = true;
  summary.qpns[0] = Qpn{flow.key.qpn};
  if (before == nullptr) return;
  state.result.absorbed = before->index;
  // Responses that came before the flows were joined answered unknown requests: no more answers to the READs until then
  // are expected.
  const std::array answers_before{before->channels[1]->responses_seen, stream.channels[1]->responses_seen};
  stream.channels[1] = std::move(before->channels[0]);
  adopt_congestion(stream, *before);
  for (std::size_t i = 0; i < stream.channels.size(); ++i) {
    if (!answers_before[i] || !stream.channels[i]) continue;
    stream.channels[i].make().reads.clear();
    stream.channels[i].make().response_gaps.clear();
  }
  stream.path_mtu = std::max(stream.path_mtu, before->path_mtu);
  const StreamSummary& old = before->summary;
  if (summary.service == Service::cnp) summary.service = old.service;
  summary.directions[1] = old.directions[0];
  summary.verdicts += old.verdicts;
  summary.broken += old.broken;
  summary.retransmissions += old.retransmissions;
  summary.spurious_retransmissions += old.spurious_retransmissions;
  summary.lost_psns += old.lost_psns;
  summary.lost_packets += old.lost_packets;
  summary.missed_psns += old.missed_psns;
  summary.is_open_start = summary.is_open_start || old.is_open_start;
  summary.start = std::min(summary.start, old.start);
  summary.first = std::min(summary.first, old.first);
  (before->older != nullptr ? before->older->newer : state.oldest) = before->newer;
  (before->newer != nullptr ? before->newer->older : state.newest) = before->older;
  state.streams.erase(before->index);
}

// True if the requests of the stream may have such responses: those of UC have none.
bool has_service_of(const Stream& stream, const Observation& packet) {
  return stream.summary.service == packet.info().service || stream.summary.service == Service::cnp;
}

// True if the response names a PSN that the connection has sent, and its UDP source port is not the other one's: it may
// be the answer to a duplicate, which comes though everything is answered.
bool may_answer_again(const Channel& channel, const Flow& other, const Observation& packet, LongPsn psn) {
  if (find_request(channel, psn) >= channel.requests.size()) return false;
  return packet.udp_source_port == 0 || packet.udp_source_port != other.udp_source_port;
}

// Returns how well the current response fits the requests of a stream: 0 not at all; 1 it answers one just after them
// that was not seen, or asks for one just before them, and has their UDP source port; 2 it answers one of them; 3 it
// answers one and has their port. A-CON-3 (a response has a PSN of the requests it answers)
unsigned fit(const Stream& stream, const Flow& flow, const Observation& packet) {
  const Channel& channel = *stream.channels[0];
  if (!channel.requests_seen || channel.requests.empty()) return 0;
  const LongPsn psn = long_psn(packet.psn, channel.next);
  const Request& oldest = channel.requests.front();
  const LongPsn end = std::max(channel.next, channel.next_max);
  const bool names_lost = names_lost_before(channel, packet, psn);
  if ((psn < oldest.psn && !names_lost) || psn >= end + heuristics::kUnseenRequests) return 0;
  const bool has_no_port = packet.udp_source_port == 0 && stream.flows[0]->udp_source_port == 0;
  const bool same_port = packet.udp_source_port == stream.flows[0]->udp_source_port && flow.udp_source_port != 0;
  if (names_lost) return same_port || has_no_port ? 1 : 0;
  if (psn >= end) return same_port ? 1 : 0;
  return same_port ? 3 : 2;
}

}  // namespace

bool may_search(const Flow& flow) {
  return flow.searches < heuristics::kEagerSearches || flow.packets % heuristics::kSearchEvery == 0;
}

bool join_by_response(TrackerState& state, Flow& flow) {
  const Observation& packet = *state.packet;
  Stream* best = nullptr;
  unsigned best_fit = 0;
  bool ambiguous = false;
  std::size_t looked = 0;
  for (Stream* stream = state.newest; stream != nullptr && looked < heuristics::kStreamsSearched;
       stream = stream->older, ++looked) {
    if (stream->flows[1] != nullptr || stream == flow.stream || !stream->is_connected) continue;
    if (!is_reverse(flow, *stream->flows[0]) || !has_service_of(*stream, packet)) continue;
    const unsigned fits = fit(*stream, flow, packet);
    if (fits == 0 || fits < best_fit) continue;
    ambiguous = fits == best_fit;
    best_fit = fits;
    best = stream;
  }
  if (best == nullptr || ambiguous) {
    if (flow.searches != 0xFF) ++flow.searches;
    return false;
  }
  // The stream that began first gives the connection its number.
  if (flow.stream != nullptr && flow.stream->index < best->index) {
    Stream& stream = *flow.stream;
    Flow& other = *best->flows[0];
    adopt(state, stream, other);
  } else {
    adopt(state, *best, flow);
  }
  return true;
}

bool rejoin_by_response(TrackerState& state, Flow& flow) {
  const Observation& packet = *state.packet;
  Stream& stream = *flow.stream;
  const Channel& channel = *stream.channels[flow.direction == 0 ? 1 : 0];
  const LongPsn psn = long_psn(packet.psn, channel.next);
  // Only responses that the connection cannot have asked for are moved.
  if (!channel.requests_seen || (psn >= channel.acknowledged && psn < channel.next)) return false;
  const bool is_known = channel.settled < channel.requests.size();
  if (is_known) return false;
  std::size_t looked = 0;
  for (Stream* other = state.newest; other != nullptr && looked < heuristics::kStreamsSearched;
       other = other->older, ++looked) {
    if (other == &stream || other->flows[1] != nullptr || !is_reverse(flow, *other->flows[0])) continue;
    const Channel& requests = *other->channels[0];
    // A connection that has sent requests since the other one began is the one that is answered.
    const Time last_request = channel.requests.empty() ? Time{} : channel.requests.back().last_time;
    if (!requests.requests_seen || last_request >= other->summary.start) continue;
    const LongPsn asked = long_psn(packet.psn, requests.next);
    if (asked < requests.acknowledged || asked >= std::max(requests.next, requests.next_max)) continue;
    if (!has_service_of(*other, packet) || may_answer_again(channel, *other->flows[0], packet, psn)) continue;
    close_stream(state, stream, &flow);
    adopt(state, *other, flow);
    return true;
  }
  return false;
}

void join_by_cm(TrackerState& state, Flow& flow) {
  const auto known = state.peer_qpns.find(flow.key);
  if (known == state.peer_qpns.end()) return;
  const FlowKey reverse{flow.key.destination, flow.key.source, flow.key.domain, known->second.value(), flow.key.point};
  const auto other = state.flows.find(reverse);
  if (other == state.flows.end() || (*other)->stream == nullptr) return;
  if ((*other)->stream->flows[1] == nullptr) adopt(state, *(*other)->stream, flow);
}

// A-CON-2 (the QPNs in a REQ and in its REP belong together)
void on_management(TrackerState& state) {
  const Observation& packet = *state.packet;
  const CmFacts& facts = packet.cm;
  if (facts.attribute == MadAttribute::cm_req) {
    if (state.cm_requests.size() >= heuristics::kCmRequestsKept) state.cm_requests.pop_front();
    state.cm_requests.push_back({packet.source, packet.destination, packet.domain, facts.local_id, facts.local_qpn,
                                 facts.path_mtu, packet.point});
    return;
  }
  if (facts.attribute != MadAttribute::cm_rep) return;
  const auto request = std::find_if(state.cm_requests.rbegin(), state.cm_requests.rend(), [&](const CmRequest& each) {
    return each.local_id == facts.remote_id && each.source == packet.destination && each.destination == packet.source &&
           each.domain == packet.domain && each.point == packet.point;
  });
  if (request == state.cm_requests.rend()) return;
  const FlowKey forth{request->source, request->destination, packet.domain, facts.local_qpn.value(), packet.point};
  const FlowKey back{request->destination, request->source, packet.domain, request->qpn.value(), packet.point};
  const auto remember = [&](const FlowKey& key, Qpn qpn) {
    if (state.peer_qpns.insert_or_assign(key, qpn).second) state.peer_qpns_order.push_back(key);
    if (state.peer_qpns_order.size() > heuristics::kCmPairsKept) {
      state.peer_qpns.erase(state.peer_qpns_order.front());
      state.peer_qpns_order.pop_front();
    }
  };
  remember(forth, request->qpn);
  remember(back, facts.local_qpn);
}

// A-CON-5 (the directions of a connection have one UDP source port; other connections may have it, too)
bool is_surely_joined(const TrackerState& state, const Stream& stream) {
  const Flow* const forth = stream.flows[0];
  const Flow* const back = stream.flows[1];
  if (forth == nullptr || back == nullptr) return false;
  if (const auto known = state.peer_qpns.find(forth->key); known != state.peer_qpns.end()) {
    return known->second.value() == back->key.qpn;
  }
  if (forth->udp_source_port == 0 || forth->udp_source_port != back->udp_source_port) return false;
  if (forth->packets < heuristics::kPacketsOfAll || back->packets < heuristics::kPacketsOfAll) return false;
  std::size_t looked = 0;
  for (const Stream* other = state.newest; other != nullptr; other = other->older) {
    if (++looked > heuristics::kPortsSearched) return false;
    for (const Flow* flow : other->flows) {
      if (other != &stream && flow != nullptr && flow->udp_source_port == forth->udp_source_port &&
          is_between_same_hosts(flow->key, forth->key)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace roce::analysis
