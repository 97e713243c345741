// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/counters/host_counters.h"

#include <algorithm>

#include "roce/wire/opcode.h"

namespace roce::analyze {

namespace {

using analysis::Cause;
using analysis::Message;
using analysis::MessageEnd;
using analysis::MessageType;
using analysis::Observation;
using analysis::PacketRole;
using analysis::Verdict;
using analysis::VerdictKind;
using enum HostFact;

bool is_multicast(const Gid& address) {
  if (address.is_ipv4_mapped()) return (address.octets[12] & 0xF0) == 0xE0;
  return address.octets[0] == 0xFF;
}

const Verdict* find_verdict(const AnalysedPacket& packet, VerdictKind kind) {
  const auto found = std::find_if(packet.analysis.verdicts.begin(), packet.analysis.verdicts.end(),
                                  [&](const Verdict& verdict) { return verdict.kind == kind; });
  return found == packet.analysis.verdicts.end() ? nullptr : &*found;
}

/// Returns the fact by which NICs count the operation of a request; nothing if they do not count it.
std::optional<HostFact> request_fact(const OpcodeInfo& info) {
  switch (info.operation) {
    case Operation::write:
      if (info.position == Position::first || info.position == Position::only) return write_requests;
      return std::nullopt;
    case Operation::read_request:
      return read_requests;
    case Operation::compare_swap:
    case Operation::fetch_add:
      return atomic_requests;
    default:
      return std::nullopt;
  }
}

struct NakFacts {
  HostFact sent{};
  HostFact received{};
};

std::optional<NakFacts> nak_facts(AethSyndrome syndrome) {
  if (syndrome.kind() == AethKind::rnr_nak) return NakFacts{rnr_naks_sent, rnr_naks_received};
  if (syndrome.kind() != AethKind::nak) return std::nullopt;
  switch (static_cast<NakCode>(syndrome.code())) {
    case NakCode::psn_sequence_error:
      return NakFacts{sequence_naks_sent, sequence_naks_received};
    case NakCode::invalid_request:
      return NakFacts{invalid_naks_sent, invalid_naks_received};
    case NakCode::remote_access_error:
      return NakFacts{access_naks_sent, access_naks_received};
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string_view to_string(Certainty certainty) {
  switch (certainty) {
    case Certainty::exact:
      return "exact";
    case Certainty::inferred:
      return "inferred";
    case Certainty::unknowable:
      break;
  }
  return "unknowable";
}

Figure HostCounts::figure(HostFact fact) const {
  const FactCount& count = facts[fact];
  const std::int64_t least = std::max<std::int64_t>(count.certain, 0);
  Figure figure{static_cast<std::uint64_t>(least),
                static_cast<std::uint64_t>(std::max(least, count.certain + count.doubtful)), Certainty::inferred};
  const FactBasis basis = host_fact_info(fact).basis;
  const bool is_checked = basis == FactBasis::sent || !has_unchecked;
  if (basis != FactBasis::concluded && is_capture_point && is_whole && is_checked && count.doubtful == 0) {
    figure.certainty = Certainty::exact;
  }
  return figure;
}

std::uint32_t HostCounters::host(const Gid& address) {
  if (is_multicast(address)) return kNobody;
  const auto [place, is_new] = by_address_.try_emplace(address, static_cast<std::uint32_t>(hosts_.size()));
  if (is_new) {
    HostCounts counts;
    counts.address = address;
    counts.is_capture_point = std::any_of(capture_points_.begin(), capture_points_.end(),
                                          [&](const AddressPattern& point) { return point.matches(address); });
    hosts_.push_back(counts);
  }
  return place->second;
}

void HostCounters::lacks_packets(std::uint32_t host) {
  if (host != kNobody) hosts_[host].is_whole = false;
}

void HostCounters::on_packet(const AnalysedPacket& packet) {
  const Observation& observation = packet.observation;
  if (observation.kind != PacketKind::roce) return;
  const std::uint32_t from = host(observation.source);
  const std::uint32_t to = host(observation.destination);
  if (observation.icrc_bad) {
    facts(from).add(packets_sent);
    facts(from).add(bytes_sent, observation.wire_length);
    facts(to).add(icrc_errors);
    return;
  }
  if (packet.decoded.icrc.status == IcrcStatus::not_checked && to != kNobody) hosts_[to].has_unchecked = true;
  Seen seen{observation.id, from, to, observation.wire_length, count, false, observation.is_ce()};
  count_transfer(packet, seen);
  switch (packet.analysis.role) {
    case PacketRole::cnp:
      facts(from).add(cnps_sent);
      facts(to).add(cnps_received);
      seen.received_as = cnps_received;
      break;
    case PacketRole::management:
    case PacketRole::datagram:
      // Each is a message of its own; management packets go to QP 1.
      facts(from).add(sends_completed);
      facts(to).add(receives_completed);
      break;
    case PacketRole::request:
    case PacketRole::response:
      if (packet.analysis.stream == analysis::kNoStream) break;
      if (packet.analysis.role == PacketRole::request) {
        count_request(packet, streams_[packet.analysis.stream]);
      } else {
        seen.is_response = true;
        count_response(packet, streams_[packet.analysis.stream], seen);
      }
      break;
    case PacketRole::other:
      break;
  }
  seen_.push_back(seen);
  if (seen_.size() > kMaxRemembered) seen_.pop_front();
}

void HostCounters::count_transfer(const AnalysedPacket& packet, Seen& seen) {
  const Observation& observation = packet.observation;
  FactCounts& sender = facts(seen.from);
  FactCounts& receiver = facts(seen.to);
  const Verdict* copy = find_verdict(packet, VerdictKind::duplicate);
  if (copy != nullptr && copy->cause == Cause::capture) {
    // The packet existed once; a capture that has packets twice is not reliable.
    lacks_packets(seen.from);
    lacks_packets(seen.to);
    seen.to = seen.from = kNobody;
    return;
  }
  if (copy == nullptr || is_here(seen.from)) {
    sender.add(packets_sent);
    sender.add(bytes_sent, observation.wire_length);
  } else if (copy->cause != Cause::network) {
    sender.doubt(packets_sent);
    sender.doubt(bytes_sent, observation.wire_length);
  }
  const std::uint32_t number = packet.analysis.stream;
  Stream* stream = nullptr;
  if (number != analysis::kNoStream) {
    if (number >= streams_.size()) streams_.resize(number + std::size_t{1});
    stream = &streams_[number];
    Way& way = stream->ways[packet.analysis.direction];
    if (way.from == kNobody && packet.analysis.role != PacketRole::cnp) {
      way.from = seen.from;
      way.to = seen.to;
    }
    const Service service = observation.info().service;
    stream->is_reliable = stream->is_reliable || service == Service::rc || service == Service::xrc;
  }
  if (stream != nullptr && stream->is_refused) {
    // The QP is in the error state, and the NIC need not count packets that the QP does not accept.
    receiver.doubt(packets_received);
    receiver.doubt(bytes_received, observation.wire_length);
  } else {
    receiver.add(packets_received);
    receiver.add(bytes_received, observation.wire_length);
    if (stream != nullptr) {
      Way& way = stream->ways[packet.analysis.direction];
      ++way.packets;
      ++way.packets_since_put_off;
      way.bytes += observation.wire_length;
      way.bytes_since_put_off += observation.wire_length;
    }
  }
  if (seen.has_ce) receiver.add(ce_received);
}

void HostCounters::count_request(const AnalysedPacket& packet, Stream& stream) {
  const Observation& observation = packet.observation;
  const OpcodeInfo& info = observation.info();
  Way& way = stream.ways[packet.analysis.direction];
  if (info.position == Position::first || info.position == Position::middle) {
    stream.path_mtu = std::max(stream.path_mtu, observation.payload_length);
  }
  RequestPacket request;
  request.psn = packet.analysis.relative_psn;
  request.psn_count = 1;
  request.begins = request_fact(info);
  request.starts_message = info.position == Position::first || info.position == Position::only;
  if (info.operation == Operation::read_request) {
    request.psn_count.reset();
    if (stream.path_mtu != 0 && !observation.lacks_length()) {
      const std::int64_t packets = (std::int64_t{observation.dma_length} + stream.path_mtu - 1) / stream.path_mtu;
      request.psn_count = std::max<std::int64_t>(packets, 1);
    }
  }
  if (!stream.is_reliable) {
    if (request.begins) facts(way.to).add(*request.begins);
    return;
  }
  if (stream.is_refused) return;
  const Verdict* repeated = find_verdict(packet, VerdictKind::retransmission);
  RequestChannel& requests = way.requests.make();
  if (requests.goes_back(request.psn, repeated != nullptr)) {
    FactCounts& requester = facts(way.from);
    if (repeated->cause == Cause::timeout) requester.add(timeouts);
    if (repeated->cause == Cause::unknown) {
      requester.doubt(timeouts);
      requester.doubt(go_backs);
    } else if (repeated->cause != Cause::rnr) {
      requester.add(go_backs);
    }
  }
  request.bytes = observation.wire_length;
  const bool is_taken = stream.ways[1 - packet.analysis.direction].packets != 0;
  requests.on_request(request, is_taken && is_here(way.to), facts(way.to));
}

void HostCounters::count_response(const AnalysedPacket& packet, Stream& stream, Seen& seen) {
  const Observation& observation = packet.observation;
  const OpcodeInfo& info = observation.info();
  if (info.operation == Operation::read_response && info.position != Position::last &&
      info.position != Position::only) {
    stream.path_mtu = std::max(stream.path_mtu, observation.payload_length);
  }
  Way& way = stream.ways[1 - packet.analysis.direction];
  if (way.from == kNobody) {
    way.from = seen.to;
    way.to = seen.from;
  }
  FactCounts& responder = facts(seen.from);
  FactCounts& requester = facts(seen.to);
  const Verdict* copy = find_verdict(packet, VerdictKind::duplicate);
  const bool is_sent = copy == nullptr || is_here(seen.from);
  if (find_verdict(packet, VerdictKind::implied_nak) != nullptr) requester.add(implied_naks);
  const std::int64_t psn = packet.analysis.relative_psn;
  const AethKind kind = observation.has_aeth ? observation.syndrome.kind() : AethKind::ack;
  if (const auto naks = observation.has_aeth ? nak_facts(observation.syndrome) : std::nullopt) {
    if (is_sent) responder.add(naks->sent);
    requester.add(naks->received);
    seen.received_as = naks->received;
  }
  RequestChannel& requests = way.requests.make();
  if (kind == AethKind::ack) {
    requests.on_ack(psn, responder);
  } else if (kind == AethKind::rnr_nak) {
    requests.on_rnr_nak(psn, responder);
    Way& answers = stream.ways[packet.analysis.direction];
    answers.packets_since_put_off = answers.bytes_since_put_off = 0;
  } else if (kind == AethKind::nak && observation.syndrome == AethSyndrome::nak(NakCode::psn_sequence_error)) {
    requests.on_sequence_nak(psn, responder, requester);
  } else if (kind == AethKind::nak) {
    requests.on_error_nak(psn, responder);
    stream.is_refused = true;
  }
}

void HostCounters::on_message(const Message& message) {
  if (message.stream >= streams_.size()) return;
  const Way& way = streams_[message.stream].ways[message.direction];
  const bool uses_receive = message.type == MessageType::send || message.has_immediate;
  const bool is_send = message.type == MessageType::send;
  switch (message.end) {
    case MessageEnd::acknowledged:
    case MessageEnd::sent:
      if (is_send) facts(way.from).add(sends_completed);
      if (uses_receive) facts(way.to).add(receives_completed);
      break;
    case MessageEnd::refused:
      if (is_send) facts(way.from).add(sends_completed);
      break;
    case MessageEnd::open:
    case MessageEnd::incomplete:
      if (is_send) facts(way.from).doubt(sends_completed);
      if (uses_receive) facts(way.to).doubt(receives_completed);
      break;
  }
}

std::vector<HostCounts> HostCounters::finish(const AnalysisResult& result) {
  for (Stream& stream : streams_) {
    if (!stream.is_reliable) continue;
    for (std::size_t i = 0; i < 2; ++i) {
      Way& way = stream.ways[i];
      // No packet ever came back: the QP may not exist.
      if (way.packets != 0 && stream.ways[1 - i].packets == 0) {
        facts(way.to).unsettle(packets_received, way.packets);
        facts(way.to).unsettle(bytes_received, way.bytes);
        if (way.requests) way.requests.make().on_unanswered(facts(way.to));
        if (way.requests->was_repeated()) facts(way.from).doubt(retries_exceeded);
      }
      if (way.requests->is_put_off()) {
        // The requester may still wait, or may have given up; if so, it takes no packets any more.
        facts(way.from).doubt(rnr_retries_exceeded);
        facts(way.from).unsettle(packets_received, stream.ways[1 - i].packets_since_put_off);
        facts(way.from).unsettle(bytes_received, stream.ways[1 - i].bytes_since_put_off);
      }
    }
  }
  const bool has_drops = std::any_of(result.files.begin(), result.files.end(),
                                     [](const CaptureFile& file) { return file.dropped() != 0 || file.is_damaged; });
  std::vector<HostCounts> hosts{hosts_.begin(), hosts_.end()};
  for (HostCounts& counts : hosts) {
    if (has_drops || result.evictions.streams != 0 || result.evictions.requests != 0) counts.is_whole = false;
  }
  return hosts;
}

}  // namespace roce::analyze
