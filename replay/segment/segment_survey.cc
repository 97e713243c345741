// SPDX-License-Identifier: BSD-2-Clause
#include "replay/segment/segment_survey.h"

#include <fmt/format.h>

#include <algorithm>

#include "roce/wire/constants.h"
#include "roce/wire/super_frame.h"

namespace roce::replay {

namespace {

[[nodiscard]] analysis::TrackerOptions tracker_options() {
  analysis::TrackerOptions options;
  // All that is needed is which flows are one connection.
  options.keep_messages = options.keep_answers = false;
  return options;
}

[[nodiscard]] bool is_within_message(const OpcodeInfo& info) {
  return info.position == Position::first || info.position == Position::middle;
}

}  // namespace

SegmentFlow segment_flow_of(const analysis::Observation& packet) {
  return {packet.source, packet.destination, packet.domain, packet.dest_qp};
}

bool is_of_connection(const Packet& packet, const analysis::Observation& seen) {
  const OpcodeInfo& info = packet.info();
  const bool has_peer = info.service == Service::rc || info.service == Service::uc || info.service == Service::xrc;
  const ParseReason reason = packet.problem().reason;
  return info.defined() && has_peer && seen.is_whole &&
         (reason == ParseReason::none || reason == ParseReason::cut_short);
}

const SegmentPlan::Part* SegmentPlan::find(const SegmentFlow& flow, std::uint64_t number) const {
  const auto found = flows.find(flow);
  if (found == flows.end()) return nullptr;
  const std::vector<Part>& parts = found->second;
  const auto next = std::upper_bound(parts.begin(), parts.end(), number,
                                     [](std::uint64_t packet, const Part& part) { return packet < part.first_packet; });
  // A packet from before the first part announces its connection.
  return next == parts.begin() ? &parts.front() : &*(next - 1);
}

SegmentSurvey::SegmentSurvey(std::uint32_t path_mtu) : path_mtu_(path_mtu), tracker_(tracker_options()) {}

void SegmentSurvey::collect_closed() {
  std::vector<analysis::StreamSummary> closed;
  tracker_.drain_closed(closed);
  for (const analysis::StreamSummary& one : closed) closed_[one.stream] = {one.ends, one.qpns, one.domain};
}

SegmentSurvey::Epoch& SegmentSurvey::epoch_of(const SegmentFlow& flow, Label label) {
  std::vector<std::size_t>& epochs = flows_[flow];
  if (!epochs.empty()) {
    Epoch& latest = epochs_[epochs.back()];
    if (latest.label == label) return latest;
    collect_closed();
    // A stream that vanished without an end was found to be the other direction of this one.
    if (!closed_.contains(latest.label.first)) {
      latest.label = label;
      return latest;
    }
  }
  epochs.push_back(epochs_.size());
  return epochs_.emplace_back(
      Epoch{.flow = flow, .first_packet = learnt_, .label = label, .requests = RequestLog{path_mtu_}});
}

void SegmentSurvey::learn(const Packet& packet, LinkType link_type, Time time) {
  if (!packet.is_roce()) return;
  const IcrcVerdict icrc = check_icrc(packet);
  const bool may_be_several = icrc.status != IcrcStatus::good;
  const std::optional<SuperFrame> parts = may_be_several ? find_super_frame(packet) : std::nullopt;
  if (!parts) return learn_one(packet, icrc, time);
  for (std::uint32_t i = 0; i < parts->count; ++i) {
    cut_frame(packet, *parts, i, cut_);
    const Packet part = parse_frame(cut_, link_type);
    learn_one(part, check_icrc(part), time);
  }
}

void SegmentSurvey::learn_one(const Packet& packet, const IcrcVerdict& icrc, Time time) {
  const analysis::Observation seen = analysis::observe_packet(packet, icrc, time, {++learnt_, 0});
  const analysis::PacketAnalysis& analysis = tracker_.observe(seen);
  // A damaged packet does not tell anything about its connection.
  if (seen.icrc_bad || analysis.stream == analysis::kNoStream || !is_of_connection(packet, seen)) return;
  Epoch& epoch = epoch_of(segment_flow_of(seen), {analysis.stream, analysis.direction});
  const OpcodeInfo& info = packet.info();
  epoch.is_reliable = epoch.is_reliable || info.service != Service::uc;
  epoch.is_cut = epoch.is_cut || packet.problem().reason != ParseReason::none || !packet.has_icrc();
  epoch.longest = std::max(epoch.longest, packet.payload_length());
  if (is_within_message(info) && epoch.sizes.size() < 2) epoch.sizes.insert(packet.payload_length());
  if (info.is_response()) {
    epoch.has_answers = true;
  } else {
    epoch.requests.add(packet);
  }
}

std::optional<SegmentSurvey::Label> SegmentSurvey::label_of_joined(const Epoch& epoch,
                                                                   const std::map<Label, std::size_t>& known) const {
  for (const auto& [stream, closed] : closed_) {
    const bool is_reverse = closed.ends[1] == epoch.flow.source && closed.ends[0] == epoch.flow.destination &&
                            closed.qpns[0] == epoch.flow.qp && closed.domain == epoch.flow.domain;
    if (is_reverse && !known.contains({stream, std::uint8_t{1}})) return Label{stream, std::uint8_t{1}};
  }
  return std::nullopt;
}

void SegmentSurvey::pair_epochs() {
  tracker_.finish();
  collect_closed();
  std::map<Label, std::size_t> by_label;
  for (std::size_t i = 0; i < epochs_.size(); ++i) {
    if (closed_.contains(epochs_[i].label.first)) by_label[epochs_[i].label] = i;
  }
  // A flow that was joined to another stream and sent nothing afterwards still has the label that it had alone.
  for (std::size_t i = 0; i < epochs_.size(); ++i) {
    if (closed_.contains(epochs_[i].label.first)) continue;
    const std::optional<Label> label = label_of_joined(epochs_[i], by_label);
    if (!label) continue;
    epochs_[i].label = *label;
    by_label[*label] = i;
  }
  for (const auto& [label, index] : by_label) {
    const auto other = by_label.find({label.first, label.second == 0 ? std::uint8_t{1} : std::uint8_t{0}});
    if (other != by_label.end()) epochs_[index].partner = other->second;
  }
}

bool SegmentSurvey::has_stray_answers(const Epoch& requests) const {
  return std::any_of(epochs_.begin(), epochs_.end(), [&](const Epoch& other) {
    return other.has_answers && other.partner == kNoEpoch && other.flow.source == requests.flow.destination &&
           other.flow.destination == requests.flow.source && other.flow.domain == requests.flow.domain;
  });
}

tl::expected<std::vector<PsnMap>, Uncuttable> SegmentSurvey::maps_of(
    const std::vector<const Epoch*>& connection) const {
  std::set<std::uint32_t> sizes;
  std::uint32_t longest = 0;
  bool is_cut = false;
  for (const Epoch* epoch : connection) {
    sizes.insert(epoch->sizes.begin(), epoch->sizes.end());
    longest = std::max(longest, epoch->longest);
    is_cut = is_cut || epoch->is_cut;
  }
  if (sizes.size() > 1 || (!sizes.empty() && !is_path_mtu(*sizes.begin()))) {
    return tl::unexpected(Uncuttable::path_mtu_odd);
  }
  const std::uint32_t old_mtu = sizes.empty() ? 0 : *sizes.begin();
  std::vector<PsnMap> maps;
  if (old_mtu == path_mtu_) return maps;
  bool changes = false;
  for (const Epoch* epoch : connection) {
    tl::expected<PsnMap, Uncuttable> map = epoch->requests.map(old_mtu, longest);
    if (!map) return tl::unexpected(map.error());
    changes = changes || !map->is_identity();
    maps.push_back(std::move(*map));
  }
  if (!changes) return std::vector<PsnMap>{};
  if (is_cut) return tl::unexpected(Uncuttable::payload_cut);
  const Epoch& first = *connection.front();
  const bool is_alone = connection.size() == 1;
  if (is_alone && first.is_reliable && (first.has_answers || has_stray_answers(first))) {
    return tl::unexpected(Uncuttable::not_joined);
  }
  return maps;
}

void SegmentSurvey::plan_connection(std::size_t index, SegmentPlan& plan) const {
  const Epoch& first = epochs_[index];
  std::vector<const Epoch*> connection{&first};
  if (first.partner != kNoEpoch) {
    // The direction that began first stands for both.
    if (first.partner < index) return;
    connection.push_back(&epochs_[first.partner]);
  }
  const auto part_of = [&plan](const Epoch& epoch) -> SegmentPlan::Part& {
    for (SegmentPlan::Part& part : plan.flows.at(epoch.flow)) {
      if (part.first_packet == epoch.first_packet) return part;
    }
    return plan.flows.at(epoch.flow).front();
  };
  tl::expected<std::vector<PsnMap>, Uncuttable> maps = maps_of(connection);
  if (!maps) {
    const std::string from = connection.size() == 1 ? "" : fmt::format(" QP {:#x}", connection[1]->flow.qp.value());
    plan.left.push_back({fmt::format("{}{} -> {} QP {:#x}", to_string(first.flow.source), from,
                                     to_string(first.flow.destination), first.flow.qp.value()),
                         maps.error()});
    for (const Epoch* epoch : connection) part_of(*epoch).is_left = true;
    return;
  }
  if (maps->empty()) return;
  ++plan.connections;
  for (std::size_t i = 0; i < connection.size(); ++i) {
    const auto place = static_cast<std::uint32_t>(plan.maps.size());
    part_of(*connection[i]).requests = place;
    if (connection.size() == 2) part_of(*connection[1 - i]).responses = place;
    plan.maps.push_back(std::move((*maps)[i]));
  }
}

SegmentPlan SegmentSurvey::finish() {
  pair_epochs();
  SegmentPlan plan;
  plan.path_mtu = path_mtu_;
  for (const Epoch& epoch : epochs_) plan.flows[epoch.flow].push_back({.first_packet = epoch.first_packet});
  for (std::size_t i = 0; i < epochs_.size(); ++i) plan_connection(i, plan);
  return plan;
}

}  // namespace roce::replay
