// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "cm/faults.h"
#include "roce/cm/connection_manager.h"

namespace roce::cm {

/// A connection with the state that keeps it going.
struct ManagedConnection : Connection {
  std::uint64_t remote_ca_guid = 0;  ///< 0 while unknown
  Qpn local_qpn{};
  Qpn remote_qpn{};
  std::uint64_t transaction_id = 0;
  OutMessage waits_for_answer{};  ///< the message that is sent again until it is answered
  Duration interval{};            ///< time between two transmissions of it
  std::uint8_t max_retries = 0;
  std::uint8_t retries_left = 0;
  std::uint8_t service_timeout = 0;  ///< time code that we asked for in an MRA
  Time deadline = kNever;
  bool is_silent = false;  ///< abandoned: its events are not reported
};

struct ConnectionManager::Impl {
  Config config;
  RandomSource random;
  std::unordered_map<std::uint32_t, ManagedConnection> connections;  ///< by our communication id
  std::set<std::pair<Time, std::uint32_t>> deadlines;
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> by_comm_id;  ///< CA GUID and comm id of the peer
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> by_qpn;      ///< CA GUID and QPN of the peer
  std::set<std::pair<std::uint64_t, std::array<std::uint8_t, 16>>> listeners;   ///< service and address (zeros: any)
  std::deque<OutMessage> messages;
  std::deque<Event> events;
  std::map<std::pair<std::array<std::uint8_t, 16>, std::uint32_t>, std::uint32_t>
      by_question;  ///< address of the asking node, and its request id
  Counters counters;
  std::uint32_t next_id = 0;
  std::uint64_t next_transaction = 0;
  Time now{};  ///< time of the current call

  // connection_manager.cc: connections and messages.
  [[nodiscard]] ManagedConnection* find(CommId id);
  [[nodiscard]] ManagedConnection* find_by_comm_id(std::uint64_t ca_guid, CommId remote);
  [[nodiscard]] ManagedConnection* find_by_qpn(std::uint64_t ca_guid, Qpn qpn);
  /// Returns null if there are already as many as allowed.
  [[nodiscard]] ManagedConnection* make_connection();
  void name_peer(ManagedConnection& connection, std::uint64_t ca_guid, CommId remote, Qpn qpn);
  void forget(ManagedConnection& connection);
  void ignore(Ignored reason) { ++counters.ignored[static_cast<std::size_t>(reason)]; }
  void say(EventKind kind, const ManagedConnection& connection, const CmRej& rejection = {}) {
    if (!connection.is_silent) events.push_back({.kind = kind, .connection = connection.local, .rejection = rejection});
  }
  /// Returns the message that was sent; valid until the next message is sent or taken.
  template <typename H>
  const OutMessage& send(const Peer& to, std::uint64_t transaction, MadAttribute attribute, const H& header) {
    OutMessage& message = messages.emplace_back();
    message.to = to;
    Mad mad;
    mad.transaction_id = transaction;
    mad.attribute_id = attribute;
    if (fault(Fault::cm_tid_new)) mad.transaction_id = next_transaction++;
    write(mad, message.mad.data());
    write(header, message.mad.data() + kSize<Mad>);
    ++counters.sent;
    return message;
  }

  // retransmit.cc: what is done when no answer comes, and timewait.
  /// Sends the message `sent` again each `interval`, up to `retries` times, until something stops it.
  void repeat(ManagedConnection& connection, const OutMessage& sent, Duration interval, std::uint8_t retries);
  /// Sends the message that waits for an answer once more.
  void send_again(const ManagedConnection& connection);
  void wait_until(ManagedConnection& connection, Time deadline);
  void stop_waiting(ManagedConnection& connection) { wait_until(connection, kNever); }
  void give_up(ManagedConnection& connection);

  // establish.cc: REQ, REP, RTU, MRA.
  /// True if there is a listener for the service at any address.
  [[nodiscard]] bool has_listener(ServiceId service) const;
  /// True if there is a listener for the service at any address, or at the one that the private data names.
  [[nodiscard]] bool is_listening(ServiceId service, Bytes private_data) const;
  void on_req(const CmReq& req, const Mad& mad, const Peer& from);
  void on_duplicate_req(ManagedConnection& connection, const Mad& mad);
  void on_rep(const CmRep& rep);
  void on_duplicate_rep(const CmRep& rep);
  void on_rtu(const CmRtu& rtu);
  void on_mra(const CmMra& mra);
  void send_mra(ManagedConnection& connection);

  // sidr.cc: datagram services.
  void on_sidr_req(const CmSidrReq& req, const Mad& mad, const Peer& from);
  void on_sidr_rep(const CmSidrRep& rep);
  void send_sidr_rep(const Peer& to, std::uint64_t transaction, const CmSidrReq& req, const Resolution& resolution);

  // reject.cc: REJ.
  void send_rej(const Peer& to, std::uint64_t transaction, const CmRej& rej);
  void send_rej(ManagedConnection& connection, CmMessageKind message, const Rejection& rejection);
  /// Sends REJ 4 (timeout). CM-REJ-2 (it carries the sender's CA GUID, by which the connection is found)
  void send_timeout_rej(ManagedConnection& connection, CmMessageKind message);
  void on_rej(const CmRej& rej);

  // alternate_path.cc: LAP.
  void on_lap(const CmLap& lap, const Mad& mad);

  // disconnect.cc: DREQ, DREP, timewait.
  void on_dreq(const CmDreq& dreq, const Mad& mad, const Peer& from);
  void on_drep(const CmDrep& drep);
  void send_dreq(ManagedConnection& connection);
  void release_stale(ManagedConnection& connection);
  void send_drep(const Peer& to, std::uint64_t transaction, CommId local, CommId remote);
  void enter_timewait(ManagedConnection& connection);
};

/// Returns which message of the peer a REJ in this state refuses; `other` if there is none.
[[nodiscard]] CmMessageKind refused_in(State state);

[[nodiscard]] inline std::array<std::uint8_t, 16> key_of(const Gid& address) {
  std::array<std::uint8_t, 16> key{};
  std::copy(address.octets.begin(), address.octets.end(), key.begin());
  return key;
}

/// True if the data is not longer than the field of the message.
template <std::size_t N>
bool fits(std::span<const std::byte> data, const std::array<std::byte, N>&) {
  return data.size() <= N;
}
template <std::size_t N>
void put(std::span<const std::byte> data, std::array<std::byte, N>& into) {
  std::copy(data.begin(), data.end(), into.begin());
}

}  // namespace roce::cm
