// SPDX-License-Identifier: BSD-2-Clause
// SIDR_REQ and SIDR_REP: how the QP of a datagram service is found.
#include "cm/manager_state.h"
#include "cm/mistakes.h"

namespace roce::cm {

VerbResult<CommId> ConnectionManager::resolve(const ResolveRequest& request, Time now) {
  Impl& impl = *impl_;
  impl.now = now;
  CmSidrReq req;
  if (!fits(request.private_data, req.private_data)) {
    return tl::unexpected(
        too_long("private_data", "at most 216 bytes", request.private_data.size(), req.private_data.size()));
  }
  ManagedConnection* const connection = impl.make_connection();
  if (connection == nullptr) return tl::unexpected(no_room(impl.connections.size(), impl.config.max_connections));
  req.request_id = connection->local.value();
  req.p_key = request.p_key;
  req.service_id = request.service;
  put(request.private_data, req.private_data);
  connection->state = State::sidr_req_sent;
  connection->is_active = true;
  connection->peer = request.peer;
  connection->sidr_request = req;
  connection->transaction_id = impl.next_transaction++;
  const OutMessage& sent = impl.send(connection->peer, connection->transaction_id, MadAttribute::cm_sidr_req, req);
  // CM-SIDR-1 (a SIDR_REQ waits the response timeout)
  impl.repeat(*connection, sent, time_of(impl.config.response_timeout), impl.config.max_retries);
  return connection->local;
}

VerbResult<void> ConnectionManager::answer(CommId id, const Resolution& resolution, Time now) {
  impl_->now = now;
  ManagedConnection* const connection = impl_->find(id);
  if (connection == nullptr) return tl::unexpected(no_such_connection(id));
  if (connection->state != State::sidr_req_received)
    return tl::unexpected(wrong_state("a SIDR_REQ that was not answered yet"));
  const CmSidrRep fields;
  if (!fits(resolution.info, fields.info)) {
    return tl::unexpected(too_long("info", "at most 72 bytes", resolution.info.size(), fields.info.size()));
  }
  if (!fits(resolution.private_data, fields.private_data)) {
    return tl::unexpected(
        too_long("private_data", "at most 136 bytes", resolution.private_data.size(), fields.private_data.size()));
  }
  impl_->send_sidr_rep(connection->peer, connection->transaction_id, connection->sidr_request, resolution);
  impl_->forget(*connection);
  return {};
}

// CM-SIDR-2 (no listener: status 1; refused: 2; a SIDR_REQ that comes again before its answer is ignored)
void ConnectionManager::Impl::on_sidr_req(const CmSidrReq& req, const Mad& mad, const Peer& from) {
  const std::pair question{key_of(from.remote), req.request_id};
  if (by_question.contains(question)) return ignore(Ignored::duplicate);
  const auto refuse = [&](CmSidrStatus status) {
    ++counters.rejected;
    send_sidr_rep(from, mad.transaction_id, req, {.status = status});
  };
  if (!has_listener(req.service_id)) return refuse(CmSidrStatus::unsupported);
  const bool is_rdma_ip = req.service_id.is_rdma_ip();
  if ((is_rdma_ip && !has_cma(req.service_id, req.private_data)) || !is_listening(req.service_id, req.private_data)) {
    return refuse(CmSidrStatus::rejected);
  }
  ManagedConnection* const connection = make_connection();
  if (connection == nullptr) return ignore(Ignored::no_room);
  connection->state = State::sidr_req_received;
  connection->peer = from;
  connection->sidr_request = req;
  connection->transaction_id = mad.transaction_id;
  by_question[question] = connection->local.value();
  say(EventKind::resolve_request, *connection);
}

void ConnectionManager::Impl::on_sidr_rep(const CmSidrRep& rep) {
  ManagedConnection* const connection = find(CommId{rep.request_id});
  if (connection == nullptr) return ignore(Ignored::unknown_connection);
  if (connection->state != State::sidr_req_sent) return ignore(Ignored::wrong_state);
  events.push_back({.kind = EventKind::resolved, .connection = connection->local, .resolution = rep});
  forget(*connection);
}

void ConnectionManager::Impl::send_sidr_rep(const Peer& to, std::uint64_t transaction, const CmSidrReq& req,
                                            const Resolution& resolution) {
  CmSidrRep rep;
  rep.request_id = req.request_id;
  rep.status = resolution.status;
  rep.service_id = req.service_id;
  if (resolution.status == CmSidrStatus::success) {
    rep.qpn = resolution.qpn;
    rep.q_key = resolution.q_key;
  }
  if (fault(Fault::cm_sidr_wrong_q_key)) rep.q_key = QKey{0x01234567};
  rep.info_length = static_cast<std::uint8_t>(resolution.info.size());
  put(resolution.info, rep.info);
  put(resolution.private_data, rep.private_data);
  send(to, transaction, MadAttribute::cm_sidr_rep, rep);
}

}  // namespace roce::cm
