// SPDX-License-Identifier: BSD-2-Clause
// REQ, REP, RTU and MRA: how a connection is established.
#include <algorithm>
#include <utility>

#include "cm/manager_state.h"
#include "cm/mistakes.h"

namespace roce::cm {

namespace {

constexpr std::uint8_t kMostRetries = 7;
constexpr std::uint16_t kNoLid = 0xFFFF;

/// Returns false for QP0, QP1 and the multicast QP, which cannot be connected (IBTA vol. 1, 9.2.3).
bool may_connect(Qpn qpn) {
  return qpn.value() > 1 && qpn.value() != 0xFF'FFFF;
}

bool is_connected(CmTransportService service) {
  return service == CmTransportService::rc || service == CmTransportService::uc;
}

std::optional<VerbError> find_mistake(const ConnectRequest& request) {
  CmReq fields;
  if (!may_connect(request.qpn)) return bad("qpn", "one of an RC or UC QP", request.qpn.value());
  if (!is_connected(request.transport)) return bad("transport", "RC or UC");
  if (to_bytes(request.path_mtu) == 0) return bad("path_mtu", "a code from 1 to 5");
  if (request.retry_count > kMostRetries) return bad("retry_count", "at most 7", request.retry_count, 7);
  if (request.rnr_retry_count > kMostRetries) {
    return bad("rnr_retry_count", "at most 7", request.rnr_retry_count, 7);
  }
  if (request.flow_label > 0xF'FFFF) return bad("flow_label", "20 bits", request.flow_label, 0xF'FFFF);
  if (!fits(request.private_data, fields.private_data)) {
    return too_long("private_data", "at most 92 bytes", request.private_data.size(), 92);
  }
  return std::nullopt;
}

CmReq make_req(const Config& config, const ConnectRequest& request, CommId local) {
  CmReq req;
  req.local_comm_id = local;
  req.service_id = request.service;
  req.local_ca_guid = config.ca_guid;
  req.local_qpn = request.qpn;
  req.responder_resources = request.responder_resources;
  req.initiator_depth = request.initiator_depth;
  if (fault(Fault::cm_depths_swapped)) std::swap(req.responder_resources, req.initiator_depth);
  req.remote_cm_response_timeout = config.response_timeout;
  req.local_cm_response_timeout = config.response_timeout;
  req.transport_service = request.transport;
  req.flow_control = request.flow_control;
  req.starting_psn = request.starting_psn;
  req.retry_count = request.retry_count;
  req.p_key = request.p_key;
  req.path_mtu = request.path_mtu;
  req.rnr_retry_count = request.rnr_retry_count;
  req.max_cm_retries = config.max_retries;
  req.srq = request.srq;
  // RoCE has no LIDs. CM-REQ-1 (LIDs are 0xFFFF if a router may be on the path), as Linux sends them.
  const bool is_routed = request.hop_limit > 1;
  req.primary_local_lid = req.primary_remote_lid = is_routed ? kNoLid : std::uint16_t{0};
  req.primary_subnet_local = !is_routed;
  req.primary_local_gid = request.peer.local;
  req.primary_remote_gid = request.peer.remote;
  req.primary_flow_label = request.flow_label;
  req.primary_traffic_class = request.traffic_class;
  req.primary_hop_limit = request.hop_limit;
  req.primary_local_ack_timeout = ack_timeout_of(config.packet_lifetime, config.ack_delay);
  put(request.private_data, req.private_data);
  return req;
}

CmRep make_rep(const Config& config, const Reply& reply, const ManagedConnection& connection) {
  CmRep rep;
  rep.local_comm_id = connection.local;
  rep.remote_comm_id = connection.remote;
  rep.local_qpn = reply.qpn;
  rep.starting_psn = reply.starting_psn;
  rep.responder_resources = reply.responder_resources;
  rep.initiator_depth = reply.initiator_depth;
  rep.target_ack_delay = config.ack_delay;
  rep.flow_control = reply.flow_control;
  rep.rnr_retry_count = reply.rnr_retry_count;
  rep.srq = reply.srq;
  rep.local_ca_guid = config.ca_guid;
  put(reply.private_data, rep.private_data);
  return rep;
}

std::optional<VerbError> find_mistake(const Reply& reply, const CmReq& req) {
  const CmRep fields;
  if (!may_connect(reply.qpn)) return bad("qpn", "one of an RC or UC QP", reply.qpn.value());
  if (reply.responder_resources > req.initiator_depth) {
    return bad("responder_resources", "at most the initiator_depth of the REQ", reply.responder_resources,
               req.initiator_depth);
  }
  if (reply.initiator_depth > req.responder_resources) {
    return bad("initiator_depth", "at most the responder_resources of the REQ", reply.initiator_depth,
               req.responder_resources);
  }
  if (reply.rnr_retry_count > kMostRetries) {
    return bad("rnr_retry_count", "at most 7", reply.rnr_retry_count, 7);
  }
  if (!fits(reply.private_data, fields.private_data)) {
    return too_long("private_data", "at most 196 bytes", reply.private_data.size(), 196);
  }
  return std::nullopt;
}

/// Returns a REJ for a REQ for which no connection was made.
CmRej rejection_of(const CmReq& req, CmRejReason reason) {
  CmRej rej;
  rej.remote_comm_id = req.local_comm_id;
  rej.message = CmMessageKind::req;
  rej.reason = reason;
  return rej;
}

}  // namespace

VerbResult<CommId> ConnectionManager::connect(const ConnectRequest& request, Time now) {
  if (const std::optional<VerbError> mistake = find_mistake(request)) return tl::unexpected(*mistake);
  Impl& impl = *impl_;
  impl.now = now;
  ManagedConnection* const connection = impl.make_connection();
  if (connection == nullptr) {
    return tl::unexpected(no_room(impl.connections.size(), impl.config.max_connections));
  }
  connection->state = State::req_sent;
  connection->is_active = true;
  connection->peer = request.peer;
  connection->local_qpn = request.qpn;
  connection->transaction_id = impl.next_transaction++;
  connection->request = make_req(impl.config, request, connection->local);
  const OutMessage& req =
      impl.send(connection->peer, connection->transaction_id, MadAttribute::cm_req, connection->request);
  // CM-TIME-3 (a REQ waits two packet lifetimes and the peer's response timeout)
  Duration interval = 2 * time_of(impl.config.packet_lifetime) + time_of(impl.config.response_timeout);
  if (fault(Fault::cm_req_timer_double)) interval *= 2;
  impl.repeat(*connection, req, interval, impl.config.max_retries);
  if (fault(Fault::cm_req_once)) connection->retries_left = 0;
  return connection->local;
}

VerbResult<void> ConnectionManager::accept(CommId id, const Reply& reply, Time now) {
  Impl& impl = *impl_;
  impl.now = now;
  ManagedConnection* const connection = impl.find(id);
  if (connection == nullptr) return tl::unexpected(no_such_connection(id));
  if (connection->state != State::req_received && connection->state != State::mra_req_sent) {
    return tl::unexpected(wrong_state("a REQ that was not answered yet"));
  }
  if (const std::optional<VerbError> mistake = find_mistake(reply, connection->request))
    return tl::unexpected(*mistake);
  connection->reply = make_rep(impl.config, reply, *connection);
  if (fault(Fault::cm_private_data_shifted)) {
    std::ranges::rotate(connection->reply.private_data, connection->reply.private_data.begin() + 1);
  }
  connection->local_qpn = reply.qpn;
  connection->state = State::rep_sent;
  const OutMessage& rep =
      impl.send(connection->peer, connection->transaction_id, MadAttribute::cm_rep, connection->reply);
  // CM-TIME-4 (a REP waits the response timeout of the REQ, and is sent again as often as that allows)
  impl.repeat(*connection, rep, time_of(connection->request.local_cm_response_timeout),
              connection->request.max_cm_retries);
  if (fault(Fault::cm_rep_once)) connection->retries_left = 0;
  return {};
}

VerbResult<void> ConnectionManager::confirm(CommId id, std::span<const std::byte> private_data, Time now) {
  impl_->now = now;
  ManagedConnection* const connection = impl_->find(id);
  if (connection == nullptr) return tl::unexpected(no_such_connection(id));
  if (connection->state != State::rep_received && connection->state != State::mra_rep_sent) {
    return tl::unexpected(wrong_state("a REP that was not answered yet"));
  }
  CmRtu rtu;
  if (!fits(private_data, rtu.private_data)) {
    return tl::unexpected(too_long("private_data", "at most 224 bytes", private_data.size(), rtu.private_data.size()));
  }
  rtu.local_comm_id = connection->local;
  rtu.remote_comm_id = connection->remote;
  put(private_data, rtu.private_data);
  // Kept to be sent again: if the REP comes again, the RTU was lost.
  connection->waits_for_answer = impl_->send(connection->peer, connection->transaction_id, MadAttribute::cm_rtu, rtu);
  connection->state = State::established;
  return {};
}

VerbResult<void> ConnectionManager::delay(CommId id, std::uint8_t service_timeout, Time now) {
  impl_->now = now;
  ManagedConnection* const connection = impl_->find(id);
  if (connection == nullptr) return tl::unexpected(no_such_connection(id));
  if (service_timeout > kLargestTimeCode) {
    return tl::unexpected(bad("service_timeout", "at most 31", service_timeout, kLargestTimeCode));
  }
  switch (connection->state) {
    case State::req_received:
    case State::mra_req_sent:
      connection->state = State::mra_req_sent;
      break;
    case State::rep_received:
    case State::mra_rep_sent:
      connection->state = State::mra_rep_sent;
      break;
    default:
      return tl::unexpected(wrong_state("a REQ or REP that was not answered yet"));
  }
  connection->service_timeout = service_timeout;
  impl_->send_mra(*connection);
  return {};
}

void ConnectionManager::data_arrived(CommId id, Time now) {
  impl_->now = now;
  ManagedConnection* const connection = impl_->find(id);
  if (connection == nullptr || (connection->state != State::rep_sent && connection->state != State::mra_rep_received))
    return;
  connection->state = State::established;
  impl_->stop_waiting(*connection);
  impl_->say(EventKind::established, *connection);
}

bool ConnectionManager::Impl::has_listener(ServiceId service) const {
  const auto first = listeners.lower_bound({service.value(), {}});
  return first != listeners.end() && first->first == service.value();
}

bool ConnectionManager::Impl::is_listening(ServiceId service, Bytes private_data) const {
  constexpr std::array<std::uint8_t, 16> kAny{};
  if (listeners.contains({service.value(), kAny})) return true;
  if (!service.is_rdma_ip()) return false;
  return listeners.contains({service.value(), key_of(read<Cma>(private_data.data()).destination_gid())});
}

// CM-REJ-1 (service, transport, path MTU, address): rejects what Linux rejects, for the same reasons.
void ConnectionManager::Impl::on_req(const CmReq& req, const Mad& mad, const Peer& from) {
  if (req.local_comm_id == CommId{} || !may_connect(req.local_qpn)) return ignore(Ignored::impossible);
  if (ManagedConnection* const known = find_by_comm_id(req.local_ca_guid, req.local_comm_id);
      known != nullptr && !fault(Fault::cm_second_connection)) {
    return on_duplicate_req(*known, mad);
  }
  const auto refuse = [&](const CmRej& rej) {
    ++counters.rejected;
    send_rej(from, mad.transaction_id, rej);
  };
  if (ManagedConnection* const old = find_by_qpn(req.local_ca_guid, req.local_qpn);
      old != nullptr && !fault(Fault::cm_stale_ok)) {
    // The peer has forgotten a connection that we still have: CM-STALE-1 (the new one is stale, the old one ends).
    refuse(rejection_of(req, CmRejReason::stale_connection));
    return release_stale(*old);
  }
  if (!has_listener(req.service_id)) {
    if (fault(Fault::cm_wrong_reason)) return refuse(rejection_of(req, CmRejReason::consumer_defined));
    return refuse(rejection_of(req, CmRejReason::invalid_service_id));
  }
  if (!is_connected(req.transport_service) && !fault(Fault::cm_fields_unchecked)) {
    return refuse(rejection_of(req, CmRejReason::invalid_transport_type));
  }
  if (to_bytes(req.path_mtu) == 0 || to_bytes(req.path_mtu) > to_bytes(config.max_path_mtu)) {
    CmRej rej = rejection_of(req, CmRejReason::invalid_path_mtu);
    rej.info_length = 1;
    rej.info[0] = static_cast<std::byte>(config.max_path_mtu);
    return refuse(rej);
  }
  const bool is_rdma_ip = req.service_id.is_rdma_ip();
  if ((is_rdma_ip && !has_cma(req.service_id, req.private_data) && !fault(Fault::cm_ip_version_ignored)) ||
      !is_listening(req.service_id, req.private_data)) {
    return refuse(rejection_of(req, CmRejReason::consumer_defined));
  }
  ManagedConnection* const connection = make_connection();
  if (connection == nullptr) return ignore(Ignored::no_room);
  connection->state = State::req_received;
  connection->peer = from;
  connection->request = req;
  connection->transaction_id = mad.transaction_id;
  name_peer(*connection, req.local_ca_guid, req.local_comm_id, req.local_qpn);
  say(EventKind::request, *connection);
}

// CM-DUP-1 (a REQ that comes again is answered by an MRA if one was sent, and rejected in timewait)
void ConnectionManager::Impl::on_duplicate_req(ManagedConnection& connection, const Mad& mad) {
  if (connection.state == State::mra_req_sent) {
    send_mra(connection);
  } else if (connection.state == State::timewait) {
    ++counters.rejected;
    send_rej(connection.peer, mad.transaction_id, rejection_of(connection.request, CmRejReason::stale_connection));
  }
  ignore(Ignored::duplicate);
}

void ConnectionManager::Impl::on_rep(const CmRep& rep) {
  ManagedConnection* const connection = find(rep.remote_comm_id);
  if (connection == nullptr || !connection->is_active) return ignore(Ignored::unknown_connection);
  if (connection->state != State::req_sent && connection->state != State::mra_req_received)
    return on_duplicate_rep(rep);
  if (rep.local_comm_id == CommId{} || !may_connect(rep.local_qpn)) return ignore(Ignored::impossible);
  if (ManagedConnection* const old = find_by_qpn(rep.local_ca_guid, rep.local_qpn)) {
    CmRej rej;
    rej.local_comm_id = connection->local;
    rej.remote_comm_id = rep.local_comm_id;
    rej.message = CmMessageKind::rep;
    rej.reason = CmRejReason::stale_connection;
    ++counters.rejected;
    send_rej(connection->peer, connection->transaction_id, rej);
    return release_stale(*old);
  }
  connection->reply = rep;
  connection->state = State::rep_received;
  name_peer(*connection, rep.local_ca_guid, rep.local_comm_id, rep.local_qpn);
  stop_waiting(*connection);
  say(EventKind::reply, *connection);
}

// CM-DUP-2 (a REP that comes again is answered by the RTU, or by an MRA if one was sent)
void ConnectionManager::Impl::on_duplicate_rep(const CmRep& rep) {
  ManagedConnection& connection = *find(rep.remote_comm_id);
  if (connection.remote != rep.local_comm_id) return ignore(Ignored::unknown_connection);
  if (fault(Fault::cm_rtu_once)) return;
  if (connection.state == State::established) {
    send_again(connection);
  } else if (connection.state == State::mra_rep_sent) {
    send_mra(connection);
  }
  ignore(Ignored::duplicate);
}

void ConnectionManager::Impl::on_rtu(const CmRtu& rtu) {
  if (fault(Fault::cm_rtu_ignored)) return;
  ManagedConnection* const connection = find(rtu.remote_comm_id);
  const bool is_known =
      connection != nullptr && (connection->remote == rtu.local_comm_id || fault(Fault::cm_rtu_of_any));
  if (!is_known) return ignore(Ignored::unknown_connection);
  if (connection->state == State::established && !connection->is_active) return ignore(Ignored::duplicate);
  if (connection->state != State::rep_sent && connection->state != State::mra_rep_received)
    return ignore(Ignored::wrong_state);
  connection->state = State::established;
  stop_waiting(*connection);
  say(EventKind::established, *connection);
}

// CM-MRA-1 (the receiver of an MRA waits its service timeout and the QP's timeout longer, once)
void ConnectionManager::Impl::on_mra(const CmMra& mra) {
  if (fault(Fault::cm_mra_ignored)) return;
  ManagedConnection* const connection = find(mra.remote_comm_id);
  if (connection == nullptr) return ignore(Ignored::unknown_connection);
  const bool is_for_req = mra.message == CmMessageKind::req && connection->state == State::req_sent;
  const bool is_for_rep = mra.message == CmMessageKind::rep && connection->state == State::rep_sent &&
                          connection->remote == mra.local_comm_id;
  if (!is_for_req && !is_for_rep) return ignore(Ignored::wrong_state);
  connection->state = is_for_req ? State::mra_req_received : State::mra_rep_received;
  wait_until(*connection, now + time_of(mra.service_timeout) + time_of(connection->request.primary_local_ack_timeout));
}

void ConnectionManager::Impl::send_mra(ManagedConnection& connection) {
  CmMra mra;
  mra.local_comm_id = connection.local;
  mra.remote_comm_id = connection.remote;
  mra.message = connection.is_active ? CmMessageKind::rep : CmMessageKind::req;
  mra.service_timeout = connection.service_timeout;
  send(connection.peer, connection.transaction_id, MadAttribute::cm_mra, mra);
}

}  // namespace roce::cm
