// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/cm_desk.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "roce/wire/cma.h"

namespace roce::live {

namespace {

using transport::QpType;
using transport::VerbResult;
using Done = CmDesk::Done<void>;

// Nobody may leave more than this untaken.
constexpr std::size_t kMostReports = 65'536;

Done said(const VerbResult<void>& result) {
  if (!result) return tl::unexpected(to_string(result.error()));
  return {};
}

std::string_view name_of(cm::EventKind kind) {
  constexpr std::array<std::string_view, 9> names{"request",  "reply",           "established",
                                                  "rejected", "unreachable",     "disconnected",
                                                  "closed",   "resolve_request", "resolved"};
  return names.at(static_cast<std::size_t>(kind));
}

/// Returns the RDMA IP CM header of a request to a peer.
std::array<std::byte, kSize<Cma>> address_header(const cm::Peer& peer) {
  const bool is_ipv4 = peer.local.is_ipv4_mapped();
  const auto form = [&](const Gid& gid) { return is_ipv4 ? Cma::from_ipv4(gid.ipv4()) : gid; };
  Cma header;
  header.ip_version = is_ipv4 ? 4 : 6;
  header.source_port = 50'000;
  header.source_address = form(peer.local);
  header.destination_address = form(peer.remote);
  std::array<std::byte, kSize<Cma>> bytes{};
  write(header, bytes.data());
  return bytes;
}

PathMtu code_of(std::uint32_t path_mtu) {
  auto code = PathMtu::mtu_256;
  while (to_bytes(code) < path_mtu && code != PathMtu::mtu_4096)
    code = static_cast<PathMtu>(static_cast<int>(code) + 1);
  return code;
}

template <typename Private>
std::vector<std::byte> bytes_of(const Private& data) {
  return {data.begin(), data.end()};
}

/// Returns the part of a request's private data that belongs to the application.
template <typename Private>
std::vector<std::byte> behind_addresses(const Private& data) {
  return {data.begin() + kSize<Cma>, data.end()};
}

CmReport report_of(const cm::Event& event, const cm::Connection* connection) {
  CmReport report{.kind = std::string{name_of(event.kind)}};
  switch (event.kind) {
    case cm::EventKind::request:
      report.private_data = behind_addresses(connection->request.private_data);
      break;
    case cm::EventKind::reply:
      report.private_data = bytes_of(connection->reply.private_data);
      break;
    case cm::EventKind::resolve_request:
      report.private_data = behind_addresses(connection->sidr_request.private_data);
      break;
    case cm::EventKind::rejected:
      report.reason = static_cast<std::uint16_t>(event.rejection.reason);
      report.private_data = bytes_of(event.rejection.private_data);
      break;
    case cm::EventKind::resolved:
      report.reason = static_cast<std::uint16_t>(event.resolution.status);
      report.private_data = bytes_of(event.resolution.private_data);
      break;
    default:
      break;
  }
  return report;
}

bool is_datagram(const cm::Connection& connection) {
  return connection.state == cm::State::sidr_req_received;
}

ServiceId service_of(const cm::Connection& connection) {
  return is_datagram(connection) ? connection.sidr_request.service_id : connection.request.service_id;
}

}  // namespace

CmDesk::CmDesk(transport::Device& device, cm::ConnectionManager& manager, Hooks hooks)
    : device_(device), manager_(manager), hooks_(std::move(hooks)) {}

Done CmDesk::listen(const CmListener& listener) {
  const ServiceId service = listener.terms.service;
  if (auto done = hooks_.listen(service); !done) return done;
  listeners_.insert_or_assign(service, Listening{listener});
  return {};
}

CmDesk::Done<CommId> CmDesk::next_waiting() const {
  if (waiting_.empty()) return tl::unexpected(std::string{"no request waits for an answer"});
  return waiting_.front();
}

Done CmDesk::accept(const CmTerms& terms, Time now) {
  const Done<CommId> id = next_waiting();
  if (!id) return tl::unexpected(id.error());
  waiting_.pop_front();
  return answer(*id, terms, now);
}

Done CmDesk::reject(const CmTerms& terms, Time now) {
  const Done<CommId> id = next_waiting();
  if (!id) return tl::unexpected(id.error());
  waiting_.pop_front();
  auto done = said(manager_.reject(
      *id, {.reason = static_cast<CmRejReason>(terms.reason), .info = terms.info, .private_data = terms.private_data},
      now));
  drop(*id);
  return done;
}

Done CmDesk::delay(const CmTerms& terms, Time now) {
  const Done<CommId> id = next_waiting();
  if (!id) return tl::unexpected(id.error());
  return said(manager_.delay(*id, terms.service_timeout, now));
}

Done CmDesk::connect(const cm::Peer& peer, const CmEnd& end, const CmTerms& terms, Time now) {
  const auto header = address_header(peer);
  std::vector<std::byte> data{header.begin(), header.end()};
  std::ranges::copy(terms.private_data, std::back_inserter(data));
  const VerbResult<CommId> id =
      end.type == QpType::ud
          ? manager_.resolve({.peer = peer, .service = terms.service, .private_data = data}, now)
          : manager_.connect({.peer = peer,
                              .service = terms.service,
                              .transport = end.type == QpType::uc ? CmTransportService::uc : CmTransportService::rc,
                              .qpn = end.qpn,
                              .starting_psn = end.rq_psn,
                              .responder_resources = terms.responder_resources,
                              .initiator_depth = terms.initiator_depth,
                              .path_mtu = code_of(end.path_mtu),
                              .retry_count = end.retry_count,
                              .rnr_retry_count = terms.rnr_retry,
                              .private_data = data},
                             now);
  if (!id) return tl::unexpected(to_string(id.error()));
  connections_.insert_or_assign(*id, end);
  hooks_.watch(*id);
  return {};
}

Done CmDesk::disconnect(Qpn qpn, Time now) {
  const auto is_it = [&](const auto& each) { return each.second && each.second->qpn == qpn; };
  const auto found = std::ranges::find_if(connections_, is_it);
  if (found == connections_.end()) return tl::unexpected(std::string{"the QP has no connection"});
  return said(manager_.disconnect(found->first, now));
}

std::optional<CmReport> CmDesk::take_report() {
  if (reports_.empty()) return std::nullopt;
  CmReport report = std::move(reports_.front());
  reports_.pop_front();
  return report;
}

void CmDesk::handle(const cm::Event& event, Time now) {
  const cm::Connection* const connection = manager_.find(event.connection);
  const bool is_request = event.kind == cm::EventKind::request || event.kind == cm::EventKind::resolve_request;
  // The peer may have given up in the meantime.
  if (connection == nullptr && (is_request || event.kind == cm::EventKind::reply)) return;
  if (reports_.size() < kMostReports) reports_.push_back(report_of(event, connection));
  if (is_request) {
    connections_.insert_or_assign(event.connection, std::nullopt);
    hooks_.watch(event.connection);
    take_request(event.connection, now);
  } else if (event.kind == cm::EventKind::reply) {
    take_reply(event.connection, now);
  } else if (event.kind == cm::EventKind::resolved) {
    drop(event.connection);
  } else if (event.kind != cm::EventKind::established) {
    end(event.connection, now);
  }
}

void CmDesk::take_request(CommId id, Time now) {
  const auto listening = listeners_.find(service_of(*manager_.find(id)));
  if (listening == listeners_.end()) {
    (void)manager_.abandon(id, now);
    return drop(id);
  }
  if (!listening->second.listener.answers) {
    waiting_.push_back(id);
    return;
  }
  const CmTerms terms = listening->second.listener.terms;
  if (const auto done = answer(id, terms, now); done) return;
  (void)manager_.abandon(id, now);
  drop(id);
}

void CmDesk::take_reply(CommId id, Time now) {
  const auto found = connections_.find(id);
  if (found == connections_.end() || !found->second || !ready(id, *found->second, now)) {
    (void)manager_.reject(id, {.reason = CmRejReason::consumer_defined}, now);
    return;
  }
  (void)manager_.confirm(id, {}, now);
}

Done CmDesk::answer(CommId id, const CmTerms& terms, Time now) {
  const cm::Connection* const connection = manager_.find(id);
  if (connection == nullptr) return tl::unexpected(std::string{"the peer gave the request up"});
  const auto found = listeners_.find(service_of(*connection));
  if (found == listeners_.end()) return tl::unexpected(std::string{"nobody listens for the service any more"});
  Listening& listening = found->second;
  const std::vector<CmEnd>& ends = listening.listener.ends;
  if (is_datagram(*connection) && !ends.empty()) return resolve(id, ends.front(), terms, now);
  const QpType wanted = connection->request.transport_service == CmTransportService::uc ? QpType::uc : QpType::rc;
  if (listening.used >= ends.size() || ends[listening.used].type != wanted) {
    auto done = said(manager_.reject(id, {.reason = CmRejReason::no_qp}, now));
    drop(id);
    return done;
  }
  const CmEnd& end = ends[listening.used++];
  auto accepted = said(
      manager_.accept(id,
                      {.qpn = end.qpn,
                       .starting_psn = end.rq_psn,
                       .responder_resources = std::min(terms.responder_resources, connection->request.initiator_depth),
                       .initiator_depth = std::min(terms.initiator_depth, connection->request.responder_resources),
                       .rnr_retry_count = terms.rnr_retry,
                       .private_data = terms.private_data},
                      now));
  if (!accepted) return accepted;
  connections_.insert_or_assign(id, end);
  return ready(id, end, now);
}

Done CmDesk::resolve(CommId id, const CmEnd& end, const CmTerms& terms, Time now) {
  auto done = said(manager_.answer(id, {.qpn = end.qpn, .q_key = end.q_key, .private_data = terms.private_data}, now));
  drop(id);
  return done;
}

Done CmDesk::ready(CommId id, const CmEnd& end, Time now) {
  const cm::Connection& connection = *manager_.find(id);
  const cm::Agreement agreement = connection.agreement();
  Done<transport::AddressVector> address = hooks_.address_of(connection.peer);
  if (!address) return tl::unexpected(address.error());
  address->flow_label = agreement.flow_label;
  const cm::QpChanges changes = cm::qp_changes(agreement, end.type, *address, end.min_rnr_timer);
  for (const transport::QpChange& change : {changes.to_init, changes.to_rtr, changes.to_rts}) {
    if (auto done = said(device_.modify_qp(end.qpn, change, now)); !done) return done;
  }
  return {};
}

void CmDesk::end(CommId id, Time now) {
  const auto found = connections_.find(id);
  std::erase(waiting_, id);
  if (found == connections_.end()) return;
  if (found->second) (void)device_.modify_qp(found->second->qpn, {.state = transport::QpState::err}, now);
  // One that the manager still knows has its `closed` to come.
  if (manager_.find(id) == nullptr) drop(id);
}

void CmDesk::drop(CommId id) {
  hooks_.forget(id);
  connections_.erase(id);
}

void CmDesk::close(Time now) {
  for (const auto& [service, listening] : listeners_) hooks_.stop_listening(service);
  listeners_.clear();
  for (const auto& [id, end] : connections_) {
    hooks_.forget(id);
    // One that is over already is not known any more.
    (void)manager_.abandon(id, now);
  }
  connections_.clear();
  waiting_.clear();
  reports_.clear();
}

}  // namespace roce::live
