// SPDX-License-Identifier: BSD-2-Clause
// REQ, REP, RTU and MRA: how a connection is established.
#include <algorithm>

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

CmRep make_rep(const Config& config, const Reply& reply, const Link& link) {
  CmRep rep;
  rep.local_comm_id = link.local;
  rep.remote_comm_id = link.remote;
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
  Link* const link = impl.make_link();
  if (link == nullptr) {
    return tl::unexpected(no_room(impl.links.size(), impl.config.max_connections));
  }
  link->state = State::req_sent;
  link->is_active = true;
  link->peer = request.peer;
  link->local_qpn = request.qpn;
  link->transaction_id = impl.next_transaction++;
  link->request = make_req(impl.config, request, link->local);
  impl.send(link->peer, link->transaction_id, MadAttribute::cm_req, link->request);
  // CM-TIME-3 (a REQ waits two packet lifetimes and the peer's response timeout)
  const Duration interval = 2 * time_of(impl.config.packet_lifetime) + time_of(impl.config.response_timeout);
  impl.repeat_last(*link, interval, impl.config.max_retries);
  return link->local;
}

VerbResult<void> ConnectionManager::accept(CommId connection, const Reply& reply, Time now) {
  Impl& impl = *impl_;
  impl.now = now;
  Link* const link = impl.find(connection);
  if (link == nullptr) return tl::unexpected(no_such_connection(connection));
  if (link->state != State::req_received && link->state != State::mra_req_sent) {
    return tl::unexpected(wrong_state("a REQ that was not answered yet"));
  }
  if (const std::optional<VerbError> mistake = find_mistake(reply, link->request)) return tl::unexpected(*mistake);
  link->reply = make_rep(impl.config, reply, *link);
  link->local_qpn = reply.qpn;
  link->state = State::rep_sent;
  impl.send(link->peer, link->transaction_id, MadAttribute::cm_rep, link->reply);
  // CM-TIME-4 (a REP waits the response timeout of the REQ, and is sent again as often as that allows)
  impl.repeat_last(*link, time_of(link->request.local_cm_response_timeout), link->request.max_cm_retries);
  return {};
}

VerbResult<void> ConnectionManager::confirm(CommId connection, std::span<const std::byte> private_data, Time now) {
  impl_->now = now;
  Link* const link = impl_->find(connection);
  if (link == nullptr) return tl::unexpected(no_such_connection(connection));
  if (link->state != State::rep_received && link->state != State::mra_rep_sent) {
    return tl::unexpected(wrong_state("a REP that was not answered yet"));
  }
  CmRtu rtu;
  if (!fits(private_data, rtu.private_data)) {
    return tl::unexpected(too_long("private_data", "at most 224 bytes", private_data.size(), rtu.private_data.size()));
  }
  rtu.local_comm_id = link->local;
  rtu.remote_comm_id = link->remote;
  put(private_data, rtu.private_data);
  // Kept to be sent again: if the REP comes again, the RTU was lost.
  link->waits_for_answer = impl_->send(link->peer, link->transaction_id, MadAttribute::cm_rtu, rtu);
  link->state = State::established;
  return {};
}

VerbResult<void> ConnectionManager::delay(CommId connection, std::uint8_t service_timeout, Time now) {
  impl_->now = now;
  Link* const link = impl_->find(connection);
  if (link == nullptr) return tl::unexpected(no_such_connection(connection));
  if (service_timeout > kLargestTimeCode) {
    return tl::unexpected(bad("service_timeout", "at most 31", service_timeout, kLargestTimeCode));
  }
  switch (link->state) {
    case State::req_received:
    case State::mra_req_sent:
      link->state = State::mra_req_sent;
      break;
    case State::rep_received:
    case State::mra_rep_sent:
      link->state = State::mra_rep_sent;
      break;
    default:
      return tl::unexpected(wrong_state("a REQ or REP that was not answered yet"));
  }
  link->service_timeout = service_timeout;
  impl_->send_mra(*link);
  return {};
}

void ConnectionManager::data_arrived(CommId connection, Time now) {
  impl_->now = now;
  Link* const link = impl_->find(connection);
  if (link == nullptr || (link->state != State::rep_sent && link->state != State::mra_rep_received)) return;
  link->state = State::established;
  impl_->stop_waiting(*link);
  impl_->say(EventKind::established, *link);
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
  if (Link* const known = find_by_comm_id(req.local_ca_guid, req.local_comm_id)) return on_duplicate_req(*known, mad);
  const auto refuse = [&](const CmRej& rej) {
    ++counters.rejected;
    send_rej(from, mad.transaction_id, rej);
  };
  if (Link* const old = find_by_qpn(req.local_ca_guid, req.local_qpn)) {
    // The peer has forgotten a connection that we still have: CM-STALE-1 (the new one is stale, the old one ends).
    refuse(rejection_of(req, CmRejReason::stale_connection));
    return release_stale(*old);
  }
  if (!has_listener(req.service_id)) {
    return refuse(rejection_of(req, CmRejReason::invalid_service_id));
  }
  if (!is_connected(req.transport_service)) return refuse(rejection_of(req, CmRejReason::invalid_transport_type));
  if (to_bytes(req.path_mtu) == 0 || to_bytes(req.path_mtu) > to_bytes(config.max_path_mtu)) {
    CmRej rej = rejection_of(req, CmRejReason::invalid_path_mtu);
    rej.info_length = 1;
    rej.info[0] = static_cast<std::byte>(config.max_path_mtu);
    return refuse(rej);
  }
  const bool is_rdma_ip = req.service_id.is_rdma_ip();
  if ((is_rdma_ip && !has_cma(req.service_id, req.private_data)) || !is_listening(req.service_id, req.private_data)) {
    return refuse(rejection_of(req, CmRejReason::consumer_defined));
  }
  Link* const link = make_link();
  if (link == nullptr) return ignore(Ignored::no_room);
  link->state = State::req_received;
  link->peer = from;
  link->request = req;
  link->transaction_id = mad.transaction_id;
  name_peer(*link, req.local_ca_guid, req.local_comm_id, req.local_qpn);
  say(EventKind::request, *link);
}

// CM-DUP-1 (a REQ that comes again is answered by an MRA if one was sent, and rejected in timewait)
void ConnectionManager::Impl::on_duplicate_req(Link& link, const Mad& mad) {
  if (link.state == State::mra_req_sent) {
    send_mra(link);
  } else if (link.state == State::timewait) {
    ++counters.rejected;
    send_rej(link.peer, mad.transaction_id, rejection_of(link.request, CmRejReason::stale_connection));
  }
  ignore(Ignored::duplicate);
}

void ConnectionManager::Impl::on_rep(const CmRep& rep) {
  Link* const link = find(rep.remote_comm_id);
  if (link == nullptr || !link->is_active) return ignore(Ignored::unknown_connection);
  if (link->state != State::req_sent && link->state != State::mra_req_received) return on_duplicate_rep(rep);
  if (rep.local_comm_id == CommId{} || !may_connect(rep.local_qpn)) return ignore(Ignored::impossible);
  if (Link* const old = find_by_qpn(rep.local_ca_guid, rep.local_qpn)) {
    CmRej rej;
    rej.local_comm_id = link->local;
    rej.remote_comm_id = rep.local_comm_id;
    rej.message = CmMessageKind::rep;
    rej.reason = CmRejReason::stale_connection;
    ++counters.rejected;
    send_rej(link->peer, link->transaction_id, rej);
    return release_stale(*old);
  }
  link->reply = rep;
  link->state = State::rep_received;
  name_peer(*link, rep.local_ca_guid, rep.local_comm_id, rep.local_qpn);
  stop_waiting(*link);
  say(EventKind::reply, *link);
}

// CM-DUP-2 (a REP that comes again is answered by the RTU, or by an MRA if one was sent)
void ConnectionManager::Impl::on_duplicate_rep(const CmRep& rep) {
  Link& link = *find(rep.remote_comm_id);
  if (link.remote != rep.local_comm_id) return ignore(Ignored::unknown_connection);
  if (link.state == State::established) {
    messages.push_back(link.waits_for_answer);
    ++counters.sent;
    ++counters.sent_again;
  } else if (link.state == State::mra_rep_sent) {
    send_mra(link);
  }
  ignore(Ignored::duplicate);
}

void ConnectionManager::Impl::on_rtu(const CmRtu& rtu) {
  Link* const link = find(rtu.remote_comm_id);
  if (link == nullptr || link->remote != rtu.local_comm_id) return ignore(Ignored::unknown_connection);
  if (link->state == State::established && !link->is_active) return ignore(Ignored::duplicate);
  if (link->state != State::rep_sent && link->state != State::mra_rep_received) return ignore(Ignored::wrong_state);
  link->state = State::established;
  stop_waiting(*link);
  say(EventKind::established, *link);
}

// CM-MRA-1 (the receiver of an MRA waits its service timeout and the QP's timeout longer, once)
void ConnectionManager::Impl::on_mra(const CmMra& mra) {
  Link* const link = find(mra.remote_comm_id);
  if (link == nullptr) return ignore(Ignored::unknown_connection);
  const bool is_for_req = mra.message == CmMessageKind::req && link->state == State::req_sent;
  const bool is_for_rep =
      mra.message == CmMessageKind::rep && link->state == State::rep_sent && link->remote == mra.local_comm_id;
  if (!is_for_req && !is_for_rep) return ignore(Ignored::wrong_state);
  link->state = is_for_req ? State::mra_req_received : State::mra_rep_received;
  wait_until(*link, now + time_of(mra.service_timeout) + time_of(link->request.primary_local_ack_timeout));
}

void ConnectionManager::Impl::send_mra(Link& link) {
  CmMra mra;
  mra.local_comm_id = link.local;
  mra.remote_comm_id = link.remote;
  mra.message = link.is_active ? CmMessageKind::rep : CmMessageKind::req;
  mra.service_timeout = link.service_timeout;
  send(link.peer, link.transaction_id, MadAttribute::cm_mra, mra);
}

}  // namespace roce::cm
