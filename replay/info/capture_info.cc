// SPDX-License-Identifier: BSD-2-Clause
#include "replay/info/capture_info.h"

#include <algorithm>

#include "capture/link_types.h"
#include "roce/wire/deth.h"
#include "roce/wire/ethernet.h"
#include "roce/wire/super_frame.h"

namespace roce::replay {

namespace {

constexpr double kNanosecond = 1e-9;
constexpr std::int64_t kMillisecond = 1'000'000;

analysis::TrackerOptions tracker_options() {
  analysis::TrackerOptions options;
  options.keep_answers = false;
  return options;
}

bool is_tunnelled(const Packet& packet) {
  const LayerList layers = packet.layers();
  return std::count_if(layers.begin(), layers.end(), [](const Layer& layer) {
           return layer.id == HeaderId::ipv4 || layer.id == HeaderId::ipv6 || layer.id == HeaderId::grh;
         }) > 1;
}

bool wants_answer(analysis::MessageType type) {
  return type == analysis::MessageType::read || type == analysis::MessageType::atomic;
}

std::vector<Obstacle> obstacles_of(const ConnectionInfo& connection) {
  const analysis::StreamSummary& stream = connection.stream;
  std::vector<Obstacle> found;
  if (stream.service != Service::rc && stream.service != Service::xrc) found.push_back(Obstacle::not_reliable);
  const bool both = stream.directions[0].seen && stream.directions[1].seen;
  if (found.empty() && (!stream.joined || !both)) found.push_back(Obstacle::one_direction);
  if (stream.is_open_start) found.push_back(Obstacle::began_before);
  if (connection.cut_packets != 0) found.push_back(Obstacle::payload_cut);
  if (connection.unanswered_reads != 0) found.push_back(Obstacle::read_data);
  if (stream.missed_psns != 0) found.push_back(Obstacle::packets_missed);
  return found;
}

}  // namespace

std::string_view to_string(Obstacle obstacle) {
  switch (obstacle) {
    case Obstacle::one_direction:
      return "only one direction is known to be in the capture";
    case Obstacle::began_before:
      return "it had begun before the capture";
    case Obstacle::payload_cut:
      return "the snap length cut payload off";
    case Obstacle::read_data:
      return "answers of READs or atomics are missing";
    case Obstacle::packets_missed:
      return "packets are missing that were on the wire";
    case Obstacle::not_reliable:
      return "nothing is acknowledged: it can be sent, but not conversed";
  }
  return {};
}

std::string_view name_of(Obstacle obstacle) {
  switch (obstacle) {
    case Obstacle::one_direction:
      return "one_direction";
    case Obstacle::began_before:
      return "began_before";
    case Obstacle::payload_cut:
      return "payload_cut";
    case Obstacle::read_data:
      return "read_data";
    case Obstacle::packets_missed:
      return "packets_missed";
    case Obstacle::not_reliable:
      return "not_reliable";
  }
  return {};
}

double CaptureInfo::seconds() const {
  return first_ns ? static_cast<double>(*last_ns - *first_ns) * kNanosecond : 0;
}

InfoCollector::InfoCollector() : tracker_(tracker_options()) {}

void InfoCollector::take(const link::CaptureRecord& record) {
  ++info_.frames;
  const std::uint32_t length = std::max(record.original_length, static_cast<std::uint32_t>(record.bytes.size()));
  info_.bytes += length;
  if (record.timestamp_ns != link::kNoTimestamp) {
    info_.first_ns = std::min(info_.first_ns.value_or(record.timestamp_ns), record.timestamp_ns);
    info_.last_ns = std::max(info_.last_ns.value_or(record.timestamp_ns), record.timestamp_ns);
  }
  if (record.bytes.size() < length) ++info_.cut_frames;
  const std::optional<LinkType> link_type = capture::known_link_type(record.link_type);
  if (!link_type) {
    ++info_.unreadable;
    return;
  }
  const Packet packet = parse_frame(record.bytes, *link_type, record.original_length);
  if (!packet.is_roce()) return;
  info_.longest_frame = std::max(info_.longest_frame, length);
  std::uint32_t segment = 0;
  for_each_packet(packet,
                  [&](const Packet& part, const IcrcVerdict& icrc) { take_packet(part, icrc, record, segment++); });
  if (segment > 1) ++info_.super_frames;
}

void InfoCollector::take_packet(const Packet& packet, const IcrcVerdict& icrc, const link::CaptureRecord& record,
                                std::uint32_t segment) {
  const std::int64_t time_ns =
      record.timestamp_ns == link::kNoTimestamp ? info_.last_ns.value_or(0) : record.timestamp_ns;
  const NetMeta net = packet.net();
  ++info_.roce_packets;
  ++info_.versions[net.version];
  if (icrc.status == IcrcStatus::bad) ++info_.bad_icrc;
  if (is_tunnelled(packet)) ++info_.tunnelled;
  constexpr std::uint16_t vlan_id_bits = 0xFFF;
  if (net.vlan_tci) ++info_.vlans[static_cast<std::uint16_t>(*net.vlan_tci & vlan_id_bits)];
  HostInfo& sender = info_.hosts[net.source];
  ++sender.sent;
  if (const std::optional<Ethernet> ethernet = packet.get<Ethernet>()) sender.macs.insert(ethernet->source);
  info_.hosts[net.destination].qpns.insert(packet.bth().dest_qp);
  if (const std::optional<Deth> deth = packet.get<Deth>()) sender.qpns.insert(deth->source_qp);
  count_in_time(time_ns);

  const analysis::Observation observation =
      analysis::observe_packet(packet, icrc, Time{Duration{time_ns}}, {record.number, segment});
  const analysis::PacketAnalysis& analysed = tracker_.observe(observation);
  if (analysed.stream != analysis::kNoStream && packet.payload().size() < packet.payload_length()) {
    ++known_[analysed.stream].cut_packets;
  }
  learn_messages();
}

void InfoCollector::count_in_time(std::int64_t time_ns) {
  const std::int64_t millisecond = time_ns / kMillisecond;
  if (millisecond != millisecond_) packets_in_it_ = 0;
  millisecond_ = millisecond;
  info_.peak_packets = std::max(info_.peak_packets, ++packets_in_it_);
}

void InfoCollector::learn_messages() {
  messages_.clear();
  tracker_.drain_messages(messages_);
  for (const analysis::Message& message : messages_) {
    if (wants_answer(message.type) && message.end != analysis::MessageEnd::acknowledged &&
        message.end != analysis::MessageEnd::refused) {
      ++known_[message.stream].unanswered_reads;
    }
  }
  closed_.clear();
  tracker_.drain_closed(closed_);
  for (analysis::StreamSummary& stream : closed_) add_connection(std::move(stream));
}

void InfoCollector::add_connection(analysis::StreamSummary stream) {
  const auto known = known_.extract(stream.stream);
  // The traffic of the connection managers (QP 0 and 1) is not a connection.
  const auto is_management = [](const std::optional<Qpn>& qpn) { return qpn && qpn->value() <= 1; };
  if (is_management(stream.qpns[0]) || is_management(stream.qpns[1])) return;
  for (std::size_t end = 0; end < 2; ++end) {
    if (const std::optional<Qpn> qpn = stream.qpns[end]) info_.hosts[stream.ends[end]].qpns.insert(*qpn);
  }
  if (info_.connections.size() == kMostConnections) {
    ++info_.unlisted_connections;
    return;
  }
  ConnectionInfo connection = known.empty() ? ConnectionInfo{} : std::move(known.mapped());
  connection.stream = std::move(stream);
  connection.obstacles = obstacles_of(connection);
  info_.connections.push_back(std::move(connection));
}

CaptureInfo InfoCollector::finish() {
  tracker_.finish();
  learn_messages();
  for (analysis::StreamSummary& stream : tracker_.streams()) add_connection(std::move(stream));
  std::ranges::sort(info_.connections, {}, [](const ConnectionInfo& connection) { return connection.stream.stream; });
  return std::move(info_);
}

}  // namespace roce::replay
