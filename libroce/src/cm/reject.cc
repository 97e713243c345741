// SPDX-License-Identifier: BSD-2-Clause
// REJ: how a REQ or REP is refused, and what a refusal ends.
#include <array>

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

}  // namespace

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

}  // namespace roce::cm
