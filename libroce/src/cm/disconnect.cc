// SPDX-License-Identifier: BSD-2-Clause
// DREQ, DREP and timewait: how a connection ends.
#include "cm/manager_state.h"
#include "cm/mistakes.h"

namespace roce::cm {

VerbResult<void> ConnectionManager::disconnect(CommId id, Time now) {
  impl_->now = now;
  ManagedConnection* const connection = impl_->find(id);
  if (connection == nullptr) return tl::unexpected(no_such_connection(id));
  if (connection->state != State::established) return tl::unexpected(wrong_state("established"));
  impl_->send_dreq(*connection);
  return {};
}

VerbResult<void> ConnectionManager::abandon(CommId id, Time now) {
  impl_->now = now;
  ManagedConnection* const connection = impl_->find(id);
  if (connection == nullptr) return tl::unexpected(no_such_connection(id));
  connection->is_silent = true;
  switch (connection->state) {
    case State::req_sent:
    case State::mra_req_received:
      impl_->send_timeout_rej(*connection, CmMessageKind::req);
      impl_->forget(*connection);
      break;
    case State::established:
      impl_->send_dreq(*connection);
      break;
    case State::dreq_sent:
    case State::timewait:
      break;
    case State::sidr_req_sent:
      impl_->forget(*connection);
      break;
    case State::sidr_req_received:
      return answer(id, {.status = CmSidrStatus::rejected}, now);
    default:
      impl_->send_rej(*connection, refused_in(connection->state), {});
      impl_->forget(*connection);
  }
  return {};
}

// CM-DREQ-1 (a DREQ is answered for unknown connections, too; one for another QPN is ignored)
void ConnectionManager::Impl::on_dreq(const CmDreq& dreq, const Mad& mad, const Peer& from) {
  ManagedConnection* const connection = find(dreq.remote_comm_id);
  const auto answer = [&] { send_drep(from, mad.transaction_id, dreq.remote_comm_id, dreq.local_comm_id); };
  if (connection == nullptr || connection->remote != dreq.local_comm_id) {
    // The sender of the DREQ needs an answer to end its side, too.
    ignore(Ignored::unknown_connection);
    return answer();
  }
  if (dreq.remote_qpn != connection->local_qpn && !fault(Fault::cm_dreq_any_qpn)) return ignore(Ignored::wrong_qpn);
  if (fault(Fault::cm_crossing_hangs) && connection->state == State::dreq_sent) return;
  switch (connection->state) {
    case State::established:
    case State::rep_sent:
    case State::mra_rep_received:
    case State::dreq_sent:
      answer();
      say(EventKind::disconnected, *connection);
      return enter_timewait(*connection);
    case State::timewait:
      ignore(Ignored::duplicate);
      return answer();
    default:
      return ignore(Ignored::wrong_state);
  }
}

void ConnectionManager::Impl::on_drep(const CmDrep& drep) {
  ManagedConnection* const connection = find(drep.remote_comm_id);
  if (connection == nullptr || connection->remote != drep.local_comm_id) return ignore(Ignored::unknown_connection);
  if (connection->state != State::dreq_sent) return ignore(Ignored::wrong_state);
  say(EventKind::disconnected, *connection);
  enter_timewait(*connection);
}

void ConnectionManager::Impl::send_dreq(ManagedConnection& connection) {
  CmDreq dreq;
  dreq.local_comm_id = connection.local;
  dreq.remote_comm_id = connection.remote;
  dreq.remote_qpn = connection.remote_qpn;
  // The active side goes on with the transaction that it began; the passive side begins its own.
  const std::uint64_t transaction = connection.is_active ? connection.transaction_id : next_transaction++;
  const OutMessage& sent = send(connection.peer, transaction, MadAttribute::cm_dreq, dreq);
  connection.state = State::dreq_sent;
  repeat(connection, sent, connection.interval, connection.max_retries);
  if (fault(Fault::cm_dreq_once)) connection.retries_left = 0;
}

// Ends a connection that the peer does not know any more.
void ConnectionManager::Impl::release_stale(ManagedConnection& connection) {
  if (connection.state == State::established) send_dreq(connection);
}

void ConnectionManager::Impl::send_drep(const Peer& to, std::uint64_t transaction, CommId local, CommId remote) {
  if (fault(Fault::cm_no_drep)) return;
  CmDrep drep;
  drep.local_comm_id = local;
  drep.remote_comm_id = remote;
  send(to, transaction, MadAttribute::cm_drep, drep);
}

// CM-TIME-5 (timewait lasts as long as the QP's timeout)
void ConnectionManager::Impl::enter_timewait(ManagedConnection& connection) {
  connection.state = State::timewait;
  wait_until(connection, now + time_of(connection.agreement().timeout));
}

}  // namespace roce::cm
