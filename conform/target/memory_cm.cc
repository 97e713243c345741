// SPDX-License-Identifier: BSD-2-Clause
#include "conform/target/memory_cm.h"

#include <algorithm>
#include <array>
#include <random>
#include <stdexcept>
#include <utility>

#include "roce/live/control_request.h"

namespace roce::conform {

namespace {

using transport::QpType;
using transport::VerbResult;

TargetResult<void> said(const VerbResult<void>& result) {
  if (!result) return tl::unexpected(to_string(result.error()));
  return {};
}

std::unique_ptr<cm::GsiAgent> make_agent(transport::Device& device, Time now, std::uint64_t seed) {
  cm::Config config;
  // Few enough that a case finds out whether those that are over keep their places.
  config.max_connections = 4096;
  config.ca_guid = cm::guid_of(device.config().mac);
  auto agent = cm::GsiAgent::make(
      device, config, [random = std::mt19937_64{seed}]() mutable { return random(); }, now);
  if (!agent) throw std::logic_error(to_string(agent.error()));
  return std::move(*agent);
}

std::string_view name_of(cm::EventKind kind) {
  constexpr std::array<std::string_view, 9> names{"request",  "reply",           "established",
                                                  "rejected", "unreachable",     "disconnected",
                                                  "closed",   "resolve_request", "resolved"};
  return names.at(static_cast<std::size_t>(kind));
}

/// Returns the RDMA IP CM header of a request from the device to the tester.
std::array<std::byte, kSize<Cma>> address_header(const Port& port) {
  const bool is_ipv4 = port.device_gid.is_ipv4_mapped();
  const auto form = [&](const Gid& gid) { return is_ipv4 ? Cma::from_ipv4(gid.ipv4()) : gid; };
  Cma header;
  header.ip_version = is_ipv4 ? 4 : 6;
  header.source_port = 50'000;
  header.source_address = form(port.device_gid);
  header.destination_address = form(port.tester_gid);
  std::array<std::byte, kSize<Cma>> bytes{};
  write(header, bytes.data());
  return bytes;
}

PathMtu code_of(std::uint32_t path_mtu) {
  auto code = PathMtu::mtu_256;
  while (to_bytes(code) < path_mtu) code = static_cast<PathMtu>(static_cast<int>(code) + 1);
  return code;
}

}  // namespace

MemoryCm::MemoryCm(transport::Device& device, const Port& port, std::uint16_t sgid_index, const Time& now,
                   std::uint64_t seed)
    : device_(device), port_(port), sgid_index_(sgid_index), now_(now), agent_(make_agent(device, now, seed)) {}

TargetResult<void> MemoryCm::listen(const CmListener& listener) {
  const ServiceId service = listener.terms.service;
  if (auto done = said(agent_->manager().listen(service)); !done) return done;
  listeners_.emplace(service.value(), Listening{listener});
  return {};
}

TargetResult<void> MemoryCm::accept(const CmTerms& terms) {
  if (waiting_.empty()) return tl::unexpected(std::string{"no request waits for an answer"});
  const CommId id = waiting_.front();
  waiting_.pop_front();
  auto done = answer(id, terms);
  step();
  return done;
}

TargetResult<void> MemoryCm::reject(const CmTerms& terms) {
  if (waiting_.empty()) return tl::unexpected(std::string{"no request waits for an answer"});
  const CommId id = waiting_.front();
  waiting_.pop_front();
  const std::vector<std::byte> info = live::from_hex(terms.info);
  const std::vector<std::byte> data = live::from_hex(terms.private_data);
  auto done = said(agent_->manager().reject(
      id, {.reason = static_cast<CmRejReason>(terms.reason), .info = info, .private_data = data}, now_));
  step();
  return done;
}

TargetResult<void> MemoryCm::delay(const CmTerms& terms) {
  if (waiting_.empty()) return tl::unexpected(std::string{"no request waits for an answer"});
  auto done = said(agent_->manager().delay(waiting_.front(), terms.service_timeout, now_));
  step();
  return done;
}

TargetResult<void> MemoryCm::connect(const CmEnd& end, const CmTerms& terms) {
  const auto header = address_header(port_);
  std::vector<std::byte> data{header.begin(), header.end()};
  std::ranges::copy(live::from_hex(terms.private_data), std::back_inserter(data));
  const cm::Peer peer{.local = port_.device_gid, .remote = port_.tester_gid};
  VerbResult<CommId> id =
      end.setup.type == QpType::ud
          ? agent_->manager().resolve({.peer = peer, .service = terms.service, .private_data = data}, now_)
          : agent_->manager().connect(
                {.peer = peer,
                 .service = terms.service,
                 .transport = end.setup.type == QpType::uc ? CmTransportService::uc : CmTransportService::rc,
                 .qpn = end.qpn,
                 .starting_psn = end.setup.rq_psn,
                 .responder_resources = terms.responder_resources,
                 .initiator_depth = terms.initiator_depth,
                 .path_mtu = code_of(end.setup.path_mtu),
                 .retry_count = end.setup.retry_count,
                 .rnr_retry_count = terms.rnr_retry,
                 .private_data = data},
                now_);
  if (!id) return tl::unexpected(to_string(id.error()));
  ends_.emplace(id->value(), end);
  step();
  return {};
}

TargetResult<void> MemoryCm::disconnect(const CmEnd& end) {
  const auto is_it = [&](const auto& each) { return each.second.qpn == end.qpn; };
  const auto found = std::ranges::find_if(ends_, is_it);
  if (found == ends_.end()) return tl::unexpected(std::string{"the QP has no connection"});
  auto done = said(agent_->manager().disconnect(CommId{found->first}, now_));
  step();
  return done;
}

std::optional<CmReport> MemoryCm::poll_event() {
  if (reports_.empty()) return std::nullopt;
  CmReport report = std::move(reports_.front());
  reports_.pop_front();
  return report;
}

void MemoryCm::step() {
  // The frames that follow from an event may be sent at once, so that all is done when nothing more happens.
  do {
    (void)agent_->step(now_);
    bool happened = false;
    while (const auto event = agent_->manager().poll_event()) {
      happened = true;
      handle(*event);
    }
    if (!happened) break;
  } while (true);
}

void MemoryCm::handle(const cm::Event& event) {
  CmReport report{.kind = std::string{name_of(event.kind)}};
  const cm::Connection* const connection = agent_->manager().find(event.connection);
  switch (event.kind) {
    case cm::EventKind::request:
      report.private_data = live::to_hex(connection->request.private_data);
      break;
    case cm::EventKind::reply:
      report.private_data = live::to_hex(connection->reply.private_data);
      break;
    case cm::EventKind::resolve_request:
      report.private_data = live::to_hex(connection->sidr_request.private_data);
      break;
    case cm::EventKind::rejected:
      report.reason = static_cast<std::uint16_t>(event.rejection.reason);
      report.private_data = live::to_hex(event.rejection.private_data);
      break;
    case cm::EventKind::resolved:
      report.reason = static_cast<std::uint16_t>(event.resolution.status);
      report.private_data = live::to_hex(event.resolution.private_data);
      break;
    default:
      break;
  }
  reports_.push_back(std::move(report));
  if (event.kind == cm::EventKind::request || event.kind == cm::EventKind::resolve_request) {
    take_request(event.connection);
  } else if (event.kind == cm::EventKind::reply) {
    take_reply(event.connection);
  } else if (event.kind != cm::EventKind::established && event.kind != cm::EventKind::resolved) {
    end(event.connection);
  }
}

void MemoryCm::take_request(CommId id) {
  const cm::Connection& connection = *agent_->manager().find(id);
  const bool is_datagram = connection.state == cm::State::sidr_req_received;
  const ServiceId service = is_datagram ? connection.sidr_request.service_id : connection.request.service_id;
  const Listening& listening = listeners_.at(service.value());
  if (!listening.listener.answers) {
    waiting_.push_back(id);
    return;
  }
  if (const auto done = answer(id, listening.listener.terms); done) return;
  (void)agent_->manager().abandon(id, now_);
}

void MemoryCm::take_reply(CommId id) {
  const auto end = ends_.find(id.value());
  if (end == ends_.end() || !ready(id, end->second)) {
    (void)agent_->manager().reject(id, {.reason = CmRejReason::consumer_defined}, now_);
    return;
  }
  (void)agent_->manager().confirm(id, {}, now_);
}

TargetResult<void> MemoryCm::answer(CommId id, const CmTerms& terms) {
  cm::ConnectionManager& manager = agent_->manager();
  const cm::Connection& connection = *manager.find(id);
  const bool is_datagram = connection.state == cm::State::sidr_req_received;
  const ServiceId service = is_datagram ? connection.sidr_request.service_id : connection.request.service_id;
  Listening& listening = listeners_.at(service.value());
  const std::vector<CmEnd>& ends = listening.listener.ends;
  if (is_datagram && !ends.empty()) return resolve(id, ends.front(), terms);
  const QpType wanted = connection.request.transport_service == CmTransportService::uc ? QpType::uc : QpType::rc;
  if (listening.used >= ends.size() || ends[listening.used].setup.type != wanted) {
    return said(manager.reject(id, {.reason = CmRejReason::no_qp}, now_));
  }
  const CmEnd& end = ends[listening.used++];
  const std::vector<std::byte> data = live::from_hex(terms.private_data);
  auto accepted = said(
      manager.accept(id,
                     {.qpn = end.qpn,
                      .starting_psn = end.setup.rq_psn,
                      .responder_resources = std::min(terms.responder_resources, connection.request.initiator_depth),
                      .initiator_depth = std::min(terms.initiator_depth, connection.request.responder_resources),
                      .rnr_retry_count = terms.rnr_retry,
                      .private_data = data},
                     now_));
  if (!accepted) return accepted;
  ends_.emplace(id.value(), end);
  return ready(id, end);
}

TargetResult<void> MemoryCm::resolve(CommId id, const CmEnd& end, const CmTerms& terms) {
  const std::vector<std::byte> data = live::from_hex(terms.private_data);
  return said(agent_->manager().answer(id, {.qpn = end.qpn, .q_key = end.setup.q_key, .private_data = data}, now_));
}

TargetResult<void> MemoryCm::ready(CommId id, const CmEnd& end) {
  const cm::Agreement agreement = agent_->manager().find(id)->agreement();
  const transport::AddressVector address{
      .sgid_index = sgid_index_, .dgid = port_.tester_gid, .flow_label = agreement.flow_label};
  const cm::QpChanges changes = cm::qp_changes(agreement, end.setup.type, address, end.setup.min_rnr_timer);
  for (const transport::QpChange& change : {changes.to_init, changes.to_rtr, changes.to_rts}) {
    if (auto done = said(device_.modify_qp(end.qpn, change, now_)); !done) return done;
  }
  return {};
}

void MemoryCm::end(CommId id) {
  const auto found = ends_.find(id.value());
  if (found == ends_.end()) return;
  (void)device_.modify_qp(found->second.qpn, {.state = transport::QpState::err}, now_);
}

}  // namespace roce::conform
