// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "roce/cm/connection.h"
#include "roce/cm/timers.h"
#include "roce/transport/device.h"
#include "roce/transport/verb_error.h"

namespace roce::cm {

using transport::RandomSource;
using transport::VerbResult;

struct Config {
  std::uint64_t ca_guid = 0;           ///< of this node; not 0
  std::uint8_t response_timeout = 20;  ///< code: how long either side may take to answer
  std::uint8_t packet_lifetime = 16;   ///< code: of a MAD on its way
  std::uint8_t ack_delay = 15;         ///< code: what a REP says of the delay of our ACKs
  std::uint8_t max_retries = 15;       ///< how often a message is sent again; 0 … 15
  PathMtu max_path_mtu = PathMtu::mtu_4096;
  std::uint32_t max_connections = 65'536;  ///< those in `timewait` too; what comes beyond is not answered
};

/// What an active side asks for.
struct ConnectRequest {
  Peer peer{};
  ServiceId service{};
  CmTransportService transport = CmTransportService::rc;  ///< RC or UC
  Qpn qpn{};                                              ///< of the QP that is to be connected
  Psn starting_psn{};                                     ///< the first that it wants to receive
  std::uint8_t responder_resources = 0;                   ///< READs and atomics that it takes at a time
  std::uint8_t initiator_depth = 0;                       ///< READs and atomics that it wants to have outstanding
  bool flow_control = false;                              ///< end-to-end credits
  bool srq = false;
  PathMtu path_mtu = PathMtu::mtu_1024;
  std::uint8_t retry_count = 7;
  std::uint8_t rnr_retry_count = 7;
  std::uint32_t flow_label = 0;
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 64;
  PKey p_key = kDefaultPKey;
  std::span<const std::byte> private_data{};  ///< at most 92 bytes; of an RDMA IP service a `Cma` in front
};

/// What a passive side answers.
struct Reply {
  Qpn qpn{};
  Psn starting_psn{};                    ///< the first that it wants to receive
  std::uint8_t responder_resources = 0;  ///< at most the `initiator_depth` of the REQ
  std::uint8_t initiator_depth = 0;      ///< at most the `responder_resources` of the REQ
  bool flow_control = false;
  bool srq = false;
  std::uint8_t rnr_retry_count = 7;
  std::span<const std::byte> private_data{};  ///< at most 196 bytes
};

/// Why a connection is not wanted.
struct Rejection {
  CmRejReason reason = CmRejReason::consumer_defined;
  std::span<const std::byte> info{};          ///< at most 72 bytes
  std::span<const std::byte> private_data{};  ///< at most 148 bytes
};

/// What an active side asks for that wants to send datagrams to a service (IBTA vol. 1, 12.11).
struct ResolveRequest {
  Peer peer{};
  ServiceId service{};
  PKey p_key = kDefaultPKey;
  std::span<const std::byte> private_data{};  ///< at most 216 bytes; of an RDMA IP service a `Cma` in front
};

/// What a passive side answers to that.
struct Resolution {
  CmSidrStatus status = CmSidrStatus::success;
  Qpn qpn{};  ///< of the UD QP; it and the Q_Key with `success` only
  QKey q_key{};
  std::span<const std::byte> info{};          ///< at most 72 bytes
  std::span<const std::byte> private_data{};  ///< at most 136 bytes
};

enum class EventKind : std::uint8_t {
  request,      ///< passive: a REQ for a service that is listened for; `accept` or `reject` it
  reply,        ///< active: a REP; make the QP ready and call `confirm`, or `reject` it
  established,  ///< passive: the peer's QP is ready
  /// By the peer; `rejection` says why. Before both had replied the connection is gone, but for a stale one; that and a
  /// later one are in timewait.
  rejected,
  unreachable,      ///< no answer to a REQ, REP or SIDR_REQ. The connection is gone
  disconnected,     ///< by the peer, or by us and confirmed or never answered; the connection is in timewait
  closed,           ///< timewait is over: the QPN may be used again
  resolve_request,  ///< passive: a SIDR_REQ for a service that is listened for; `answer` it
  resolved,         ///< active: `resolution` has the QP of the service, or why there is none. The name is gone
};

struct Event {
  EventKind kind{};
  CommId connection{};
  CmRej rejection{};       ///< of `rejected`
  CmSidrRep resolution{};  ///< of `resolved`
};

/// Why a message that came in had no effect.
enum class Ignored : std::uint8_t {
  not_cm,              ///< cut short, or no message of the communication manager of this version
  unknown_connection,  ///< it names none that there is
  wrong_state,         ///< the connection does not wait for it
  wrong_qpn,           ///< a DREQ for another QP
  duplicate,           ///< of what was taken before and needs no answer
  no_room,             ///< as many connections as are allowed
  impossible,          ///< values that no connection can have and no REJ names
  unsupported,         ///< a message of a service that is not offered
};
inline constexpr std::size_t kIgnoredCount = 8;

struct Counters {
  std::uint64_t received = 0;
  std::uint64_t sent = 0;        ///< with those sent again
  std::uint64_t sent_again = 0;  ///< for want of an answer
  std::uint64_t rejected = 0;    ///< REQs and REPs that we rejected by ourselves
  std::array<std::uint64_t, kIgnoredCount> ignored{};

  [[nodiscard]] std::uint64_t of(Ignored reason) const { return ignored[static_cast<std::size_t>(reason)]; }
  friend bool operator==(const Counters&, const Counters&) = default;
};

/// A MAD that is to be sent from QP1 to QP1.
struct OutMessage {
  Peer to{};
  std::array<std::byte, kMadSize> mad{};
};

/// The communication manager of a node (IBTA vol. 1, chapter 12), for RC, UC and the datagram services of UD: it takes
/// MADs that QP1 received, and the time, and hands out MADs and events. It moves no QP itself;
/// `Connection::agreement()` says what a QP needs.
///
/// After each call that may change something: take all of `poll_message()` and `poll_event()`, and call `advance` at
/// `next_timeout()`. Calls that fail have changed nothing.
class ConnectionManager {
 public:
  /// Error: `invalid_argument` naming the member of `config`.
  [[nodiscard]] static VerbResult<ConnectionManager> make(const Config& config, RandomSource random);
  ConnectionManager(ConnectionManager&&) noexcept;
  ConnectionManager& operator=(ConnectionManager&&) noexcept;
  ~ConnectionManager();

  /// Takes REQs for a service, at one address of an RDMA IP service only where `address` is set. Error: `in_use`.
  VerbResult<void> listen(ServiceId service, std::optional<Gid> address = {});
  /// Error: `unknown_handle`.
  VerbResult<void> stop_listening(ServiceId service, std::optional<Gid> address = {});

  /// Sends a REQ; returns the name of the connection. Errors: `invalid_argument` naming the member, `no_resources`.
  [[nodiscard]] VerbResult<CommId> connect(const ConnectRequest& request, Time now);
  /// Passive: sends the REP. From here on `Connection::agreement()` is complete: bring the QP to RTS by it before
  /// taking the message, since data may follow the RTU at once. Errors: `invalid_argument`, `unknown_handle`,
  /// `wrong_state`.
  VerbResult<void> accept(CommId connection, const Reply& reply, Time now);
  /// Active: the QP is in RTS; sends the RTU. `private_data`: at most 224 bytes. Errors as of `accept`.
  VerbResult<void> confirm(CommId connection, std::span<const std::byte> private_data, Time now);
  /// Does not want the REQ or REP that came in. The connection is gone. Errors as of `accept`.
  VerbResult<void> reject(CommId connection, const Rejection& rejection, Time now);
  /// Asks the peer for time to answer its REQ or REP: `service_timeout` is a code. Errors as of `accept`.
  VerbResult<void> delay(CommId connection, std::uint8_t service_timeout, Time now);
  /// Passive: a packet of the connection came in, which is as good as an RTU. Otherwise without effect.
  void data_arrived(CommId connection, Time now);
  /// Ends an established connection: sends a DREQ. Errors: `unknown_handle`, `wrong_state`.
  VerbResult<void> disconnect(CommId connection, Time now);
  /// Wants nothing more of a connection in any state, and tells the peer what there is to tell. No event follows.
  /// Error: `unknown_handle`.
  VerbResult<void> abandon(CommId connection, Time now);

  /// Asks for the QP behind a datagram service; returns a name for the question. Errors as of `connect`.
  [[nodiscard]] VerbResult<CommId> resolve(const ResolveRequest& request, Time now);
  /// Passive: answers a `resolve_request`, whose name is gone then. Errors as of `accept`.
  VerbResult<void> answer(CommId question, const Resolution& resolution, Time now);

  /// Takes the payload of a datagram that QP1 received; nothing of it is kept.
  void receive(Bytes mad, const Peer& from, Time now);
  [[nodiscard]] Time next_timeout() const;
  void advance(Time now);
  /// The next message to be sent, oldest first.
  [[nodiscard]] std::optional<OutMessage> poll_message();
  [[nodiscard]] std::optional<Event> poll_event();

  /// What is known of a connection; null: there is none of this name. Valid until the next call that is not const.
  [[nodiscard]] const Connection* find(CommId connection) const;
  [[nodiscard]] std::size_t connections() const;
  [[nodiscard]] const Counters& counters() const;

 private:
  struct Impl;
  explicit ConnectionManager(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace roce::cm
