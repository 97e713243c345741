// SPDX-License-Identifier: BSD-2-Clause
// REJ, DREQ, DREP and LAP, and timewait: how a connection ends.
#include <algorithm>

#include "cm/manager_state.h"
#include "cm/mistakes.h"

namespace roce::cm {

namespace {

constexpr std::size_t kGuidBytes = 8;

/// Returns the sender's CA GUID from a REJ for a timeout; 0 if there is none. CM-REJ-2 (the connection is found by it)
std::uint64_t guid_in(const CmRej& rej) {
  if (rej.reason != CmRejReason::timeout || rej.info_length < kGuidBytes) return 0;
  std::uint64_t guid = 0;
  for (std::size_t i = 0; i < kGuidBytes; ++i) guid = guid << 8U | std::to_integer<std::uint64_t>(rej.info[i]);
  return guid;
}

/// Returns which message of the peer a REJ in this state refuses; `other` if there is none.
CmMessageKind refused_in(State state) {
  switch (state) {
    case State::req_received:
    case State::mra_req_sent:
      return CmMessageKind::req;
    case State::rep_received:
    case State::mra_rep_sent:
      return CmMessageKind::rep;
    default:
      return CmMessageKind::other;
  }
}

}  // namespace

VerbResult<void> ConnectionManager::reject(CommId id, const Rejection& rejection, Time now) {
  impl_->now = now;
  ManagedConnection* const connection = impl_->find(id);
  if (connection == nullptr) return tl::unexpected(no_such_connection(id));
  const CmMessageKind message = refused_in(connection->state);
  if (message == CmMessageKind::other) return tl::unexpected(wrong_state("a REQ or REP that was not answered yet"));
  const CmRej fields;
  if (!fits(rejection.info, fields.info)) {
    return tl::unexpected(too_long("info", "at most 72 bytes", rejection.info.size(), fields.info.size()));
  }
  if (!fits(rejection.private_data, fields.private_data)) {
    return tl::unexpected(
        too_long("private_data", "at most 148 bytes", rejection.private_data.size(), fields.private_data.size()));
  }
  impl_->send_rej(*connection, message, rejection);
  impl_->forget(*connection);
  return {};
}

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

void ConnectionManager::Impl::send_rej(const Peer& to, std::uint64_t transaction, const CmRej& rej) {
  send(to, transaction, MadAttribute::cm_rej, rej);
}

void ConnectionManager::Impl::send_rej(ManagedConnection& connection, CmMessageKind message,
                                       const Rejection& rejection) {
  CmRej rej;
  rej.local_comm_id = connection.local;
  rej.remote_comm_id = connection.remote;
  rej.message = message;
  rej.reason = rejection.reason;
  rej.info_length = static_cast<std::uint8_t>(rejection.info.size());
  put(rejection.info, rej.info);
  put(rejection.private_data, rej.private_data);
  send_rej(connection.peer, connection.transaction_id, rej);
}

void ConnectionManager::Impl::send_timeout_rej(ManagedConnection& connection, CmMessageKind message) {
  std::array<std::byte, kGuidBytes> guid{};
  for (std::size_t i = 0; i < kGuidBytes; ++i) guid[i] = static_cast<std::byte>(config.ca_guid >> (56 - 8 * i));
  send_rej(connection, message, {.reason = CmRejReason::timeout, .info = guid});
}

void ConnectionManager::Impl::on_rej(const CmRej& rej) {
  if (fault(Fault::cm_long_ari_ignored) && rej.info_length > rej.info.size()) return;
  ManagedConnection* connection = nullptr;
  if (const std::uint64_t guid = guid_in(rej)) connection = find_by_comm_id(guid, rej.local_comm_id);
  if (connection == nullptr) {
    connection = find(rej.remote_comm_id);
    // A peer that rejects a REQ may not have a communication id for the connection.
    const bool is_for_req = rej.message == CmMessageKind::req && connection != nullptr &&
                            (connection->state == State::req_sent || connection->state == State::mra_req_received);
    if (connection == nullptr || (!is_for_req && connection->remote != rej.local_comm_id)) {
      return ignore(Ignored::unknown_connection);
    }
  }
  switch (connection->state) {
    case State::req_sent:
    case State::mra_req_received:
    case State::req_received:
    case State::mra_req_sent:
    case State::rep_sent:
    case State::mra_rep_received:
      say(EventKind::rejected, *connection, rej);
      // The peer still has a connection with these numbers. CM-STALE-2 (timewait): neither side may reuse them soon.
      if (rej.reason == CmRejReason::stale_connection) return enter_timewait(*connection);
      return forget(*connection);
    case State::rep_received:
    case State::mra_rep_sent:
    case State::established:
      say(EventKind::rejected, *connection, rej);
      return enter_timewait(*connection);
    case State::dreq_sent:
      say(EventKind::disconnected, *connection);
      return enter_timewait(*connection);
    default:
      return ignore(Ignored::wrong_state);
  }
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

// CM-LAP-1 (a LAP is answered: alternate paths are not supported); RoCE has none.
void ConnectionManager::Impl::on_lap(const CmLap& lap, const Mad& mad) {
  ManagedConnection* const connection = find(lap.remote_comm_id);
  if (connection == nullptr || connection->remote != lap.local_comm_id) return ignore(Ignored::unknown_connection);
  if (connection->state != State::established) return ignore(Ignored::wrong_state);
  ignore(Ignored::unsupported);
  if (fault(Fault::cm_lap_silent)) return;
  CmApr apr;
  apr.local_comm_id = connection->local;
  apr.remote_comm_id = connection->remote;
  apr.status = CmAprStatus::unsupported;
  send(connection->peer, mad.transaction_id, MadAttribute::cm_apr, apr);
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
