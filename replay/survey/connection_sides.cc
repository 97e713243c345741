// SPDX-License-Identifier: BSD-2-Clause
#include "replay/survey/connection_sides.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "roce/wire/all_headers.h"
#include "roce/wire/icrc.h"

namespace roce::replay {

namespace {

[[nodiscard]] analysis::TrackerOptions tracker_options() {
  analysis::TrackerOptions options;
  // All that is needed is which flows are one connection.
  options.keep_messages = options.keep_answers = false;
  return options;
}

[[nodiscard]] bool is_management(Qpn qpn) {
  return qpn.value() <= 1;
}

[[nodiscard]] std::uint8_t other(std::uint8_t side) {
  return side == 0 ? 1 : 0;
}

[[nodiscard]] bool names(const QpName& name, const QpEnd& end) {
  return name.qpn == end.qpn && (!name.owner || *name.owner == end.host);
}

/// The communication IDs of a message: that of its sender and that of its receiver, 0 where the message has none.
struct CmIds {
  std::uint32_t sender = 0;
  std::uint32_t receiver = 0;
};

template <typename Message>
[[nodiscard]] bool read_ids(const Packet& packet, CmIds& ids) {
  const std::optional<Message> message = packet.get<Message>();
  if (!message) return false;
  ids.sender = message->local_comm_id.value();
  if constexpr (requires { message->remote_comm_id; }) ids.receiver = message->remote_comm_id.value();
  return true;
}

[[nodiscard]] CmIds ids_of(const Packet& packet) {
  CmIds ids;
  [[maybe_unused]] const bool is_read =
      read_ids<CmReq>(packet, ids) || read_ids<CmRep>(packet, ids) || read_ids<CmRtu>(packet, ids) ||
      read_ids<CmMra>(packet, ids) || read_ids<CmRej>(packet, ids) || read_ids<CmDreq>(packet, ids) ||
      read_ids<CmDrep>(packet, ids) || read_ids<CmLap>(packet, ids) || read_ids<CmApr>(packet, ids);
  return ids;
}

}  // namespace

std::optional<std::uint8_t> ConnectionSides::side_of_end(const QpEnd& end) const {
  const auto known = ends_.find(end);
  return known == ends_.end() ? std::nullopt : std::optional{known->second};
}

std::optional<std::uint8_t> ConnectionSides::side_of_message(const Packet& packet, const NetMeta& net) const {
  if (const std::optional<CmSidrReq> asked = packet.get<CmSidrReq>()) {
    return askers_.contains({net.source, asked->request_id}) ? std::optional{std::uint8_t{0}} : std::nullopt;
  }
  if (const std::optional<CmSidrRep> told = packet.get<CmSidrRep>()) {
    return askers_.contains({net.destination, told->request_id}) ? std::optional{std::uint8_t{1}} : std::nullopt;
  }
  const CmIds ids = ids_of(packet);
  if (const auto sender = managers_.find({net.source, ids.sender}); sender != managers_.end()) return sender->second;
  // The sender of a REJ for a REQ may not have an ID of its own.
  if (const auto receiver = managers_.find({net.destination, ids.receiver}); receiver != managers_.end()) {
    return other(receiver->second);
  }
  return std::nullopt;
}

std::optional<std::uint8_t> ConnectionSides::side_of(const Packet& packet, Time time) const {
  if (packet.is_roce()) {
    const NetMeta net = packet.net();
    const QpEnd to{net.destination, packet.bth().dest_qp};
    if (is_management(to.qpn)) return side_of_message(packet, net);
    if (const std::optional<Deth> deth = packet.get<Deth>()) {
      if (const auto side = side_of_end({net.source, deth->source_qp})) return side;
      const auto receiver = side_of_end(to);
      return receiver ? std::optional{other(*receiver)} : std::nullopt;
    }
    const auto flow = flows_.find({net.source, to});
    if (flow == flows_.end()) return std::nullopt;
    // A packet from before the first start counts as of the first connection: clocks of merged captures differ.
    const auto after = std::ranges::upper_bound(flow->second, time, {}, &Since::start);
    return (after == flow->second.begin() ? after : std::prev(after))->sender;
  }
  const std::optional<Ethernet> ethernet = packet.get<Ethernet>();
  if (!ethernet) return std::nullopt;
  const auto host = hosts_.find(ethernet->source);
  if (host == hosts_.end() || host->second[0] == host->second[1]) return std::nullopt;
  return host->second[0] ? std::uint8_t{0} : std::uint8_t{1};
}

SideSurvey::SideSurvey(SideEnds wanted) : wanted_(std::move(wanted)), tracker_(tracker_options()) {}

void SideSurvey::learn(const Packet& packet, Time time) {
  if (!packet.is_roce()) return;
  const NetMeta net = packet.net();
  const IcrcVerdict icrc = check_icrc(packet);
  tracker_.observe(analysis::observe_packet(packet, icrc, time, {++packets_, 0}));
  const QpEnd to{net.destination, packet.bth().dest_qp};
  ends_.insert(to);
  const std::optional<Deth> deth = packet.get<Deth>();
  if (deth) ends_.insert({net.source, deth->source_qp});
  if (is_management(to.qpn)) {
    learn_cm(packet, net, time);
  } else if (const std::optional<Ethernet> ethernet = packet.get<Ethernet>(); ethernet && !deth) {
    senders_.insert({ethernet->source, {net.source, to}});
  }
}

void SideSurvey::learn_cm(const Packet& packet, const NetMeta& net, Time time) {
  if (const std::optional<CmReq> req = packet.get<CmReq>()) {
    const QpEnd client{net.source, req->local_qpn};
    roles_[client].emplace(time, true);
    managers_.try_emplace({net.source, req->local_comm_id.value()}, CmState{client, true, std::nullopt});
  } else if (const std::optional<CmRep> rep = packet.get<CmRep>()) {
    const QpEnd server{net.source, rep->local_qpn};
    const ConnectionSides::CmEnd here{net.source, rep->local_comm_id.value()};
    const ConnectionSides::CmEnd there{net.destination, rep->remote_comm_id.value()};
    roles_[server].emplace(time, false);
    managers_.try_emplace(here, CmState{server, false, there});
    if (const auto client = managers_.find(there); client != managers_.end()) client->second.peer = here;
  } else if (const std::optional<CmSidrReq> asked = packet.get<CmSidrReq>()) {
    askers_.insert({net.source, asked->request_id});
  } else if (const std::optional<CmSidrRep> told = packet.get<CmSidrRep>()) {
    if (told->qpn.value() != 0) roles_[{net.source, told->qpn}].emplace(time, false);
  }
}

bool SideSurvey::is_wanted(const QpEnd& end) const {
  return std::ranges::any_of(wanted_.qps, [&](const QpName& name) { return names(name, end); });
}

std::optional<std::uint8_t> SideSurvey::side_of(const QpEnd& end, Time time) const {
  if (is_wanted(end)) return std::uint8_t{0};
  const auto roles = roles_.find(end);
  if (!wanted_.clients || roles == roles_.end()) return std::nullopt;
  const auto after = roles->second.upper_bound(time);
  if (after == roles->second.begin()) return std::nullopt;
  return std::prev(after)->second ? std::uint8_t{0} : std::uint8_t{1};
}

std::optional<std::uint8_t> SideSurvey::side_of(const CmState& manager) const {
  if (is_wanted(manager.end)) return std::uint8_t{0};
  if (!wanted_.clients) return std::nullopt;
  return manager.is_client ? std::uint8_t{0} : std::uint8_t{1};
}

void SideSurvey::add_streams(ConnectionSides& sides) const {
  std::vector<analysis::StreamSummary> streams = tracker_.streams();
  std::ranges::sort(streams, {}, &analysis::StreamSummary::start);
  for (const analysis::StreamSummary& stream : streams) {
    const auto side_of_stream_end = [&](std::size_t end) {
      return stream.qpns[end] ? side_of({stream.ends[end], *stream.qpns[end]}, stream.end) : std::nullopt;
    };
    for (std::size_t end = 0; end < 2; ++end) {
      const std::size_t peer = 1 - end;
      if (!stream.qpns[peer]) continue;
      std::optional<std::uint8_t> sender = side_of_stream_end(end);
      if (const auto receiver = side_of_stream_end(peer); !sender && receiver) sender = other(*receiver);
      if (!sender) continue;
      sides.flows_[{stream.ends[end], {stream.ends[peer], *stream.qpns[peer]}}].push_back({stream.start, *sender});
    }
  }
}

void SideSurvey::add_managers(ConnectionSides& sides) const {
  for (const auto& [id, state] : managers_) {
    std::optional<std::uint8_t> side = side_of(state);
    if (const auto peer = state.peer ? managers_.find(*state.peer) : managers_.end();
        !side && peer != managers_.end()) {
      if (const auto opposite = side_of(peer->second)) side = other(*opposite);
    }
    if (side) sides.managers_.emplace(id, *side);
  }
  if (wanted_.clients) sides.askers_ = askers_;
}

void SideSurvey::add_hosts(ConnectionSides& sides) const {
  for (const auto& [mac, flow] : senders_) {
    const auto known = sides.flows_.find(flow);
    if (known == sides.flows_.end()) continue;
    for (const ConnectionSides::Since& since : known->second) sides.hosts_[mac][since.sender] = true;
  }
}

ReadResult<ConnectionSides> SideSurvey::finish() {
  tracker_.finish();
  if (wanted_.clients && managers_.empty() && askers_.empty()) {
    return tl::unexpected(
        std::string{"clients: no connection is asked for in the captures (no CM REQ or SIDR_REQ); addresses or qp=QPN "
                    "say who is on side A"});
  }
  for (const analysis::StreamSummary& stream : tracker_.streams()) {
    for (std::size_t end = 0; end < 2; ++end) {
      if (stream.qpns[end]) ends_.insert({stream.ends[end], *stream.qpns[end]});
    }
  }
  for (const QpName& name : wanted_.qps) {
    if (std::ranges::none_of(ends_, [&](const QpEnd& end) { return names(name, end); })) {
      return tl::unexpected(
          fmt::format("qp={:#x}: the captures have no such queue pair; roce-replay info lists them", name.qpn.value()));
    }
  }
  ConnectionSides sides;
  for (const QpEnd& end : ends_) {
    if (const auto side = side_of(end, Time::max())) sides.ends_.emplace(end, *side);
  }
  add_streams(sides);
  add_managers(sides);
  add_hosts(sides);
  return sides;
}

}  // namespace roce::replay
