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
  std::uint64_t ca_guid = 0;           ///< GUID of this node; not 0
  std::uint8_t response_timeout = 20;  ///< time code: how long either side may take to answer
  std::uint8_t packet_lifetime = 16;   ///< time code: how long a MAD may be on its way
  std::uint8_t ack_delay = 15;         ///< time code: the delay of our ACKs, as a REP states it
  std::uint8_t max_retries = 15;       ///< number of times that a message is sent again; 0 … 15
  PathMtu max_path_mtu = PathMtu::mtu_4096;
  std::uint32_t max_connections = 65'536;  ///< including those in `timewait`; requests beyond it are not answered
};

/// The parameters of a connection that an active side asks for.
struct ConnectRequest {
  Peer peer{};
  ServiceId service{};
  CmTransportService transport = CmTransportService::rc;  ///< RC or UC
  Qpn qpn{};                                              ///< the QP that is to be connected
  Psn starting_psn{};                                     ///< the first PSN that it wants to receive
  std::uint8_t responder_resources = 0;                   ///< READs and atomics that it accepts at a time
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
  std::span<const std::byte> private_data{};  ///< at most 92 bytes; with an RDMA IP service they begin with a `Cma`
};

/// The answer of a passive side to a REQ.
struct Reply {
  Qpn qpn{};
  Psn starting_psn{};                    ///< the first PSN that it wants to receive
  std::uint8_t responder_resources = 0;  ///< at most the `initiator_depth` of the REQ
  std::uint8_t initiator_depth = 0;      ///< at most the `responder_resources` of the REQ
  bool flow_control = false;
  bool srq = false;
  std::uint8_t rnr_retry_count = 7;
  std::span<const std::byte> private_data{};  ///< at most 196 bytes
};

/// The reason why a connection is refused.
struct Rejection {
  CmRejReason reason = CmRejReason::consumer_defined;
  std::span<const std::byte> info{};          ///< at most 72 bytes
  std::span<const std::byte> private_data{};  ///< at most 148 bytes
};

/// The parameters of a query for a datagram service, sent by an active side (IBTA vol. 1, 12.11).
struct ResolveRequest {
  Peer peer{};
  ServiceId service{};
  PKey p_key = kDefaultPKey;
  std::span<const std::byte> private_data{};  ///< at most 216 bytes; with an RDMA IP service they begin with a `Cma`
};

/// The answer of a passive side to a `ResolveRequest`.
struct Resolution {
  CmSidrStatus status = CmSidrStatus::success;
  Qpn qpn{};  ///< the UD QP; it and the Q_Key count only with `success`
  QKey q_key{};
  std::span<const std::byte> info{};          ///< at most 72 bytes
  std::span<const std::byte> private_data{};  ///< at most 136 bytes
};

enum class EventKind : std::uint8_t {
  request,      ///< passive: a REQ for a service with a listener; `accept` or `reject` it
  reply,        ///< active: a REP; make the QP ready and call `confirm`, or `reject` it
  established,  ///< passive: the peer's QP is ready
  /// By the peer; `rejection` has the reason. The connection is gone if a REP or RTU of the peer was still
  /// to come and the reason was not a stale connection; otherwise it is in timewait.
  rejected,
  unreachable,      ///< a REQ, REP or SIDR_REQ was never answered. The connection is gone
  disconnected,     ///< by the peer, or by us and then confirmed or never answered; the connection is in timewait
  closed,           ///< timewait is over: the QPN may be used again
  resolve_request,  ///< passive: a SIDR_REQ for a service with a listener; `answer` it
  resolved,         ///< active: `resolution` has the QP of the service, or why there is none. The identifier is gone
};

struct Event {
  EventKind kind{};
  CommId connection{};
  CmRej rejection{};       ///< with `rejected`
  CmSidrRep resolution{};  ///< with `resolved`
};

/// The reason why a received message had no effect.
enum class Ignored : std::uint8_t {
  not_cm,              ///< cut short, or not a message of the communication manager of this version
  unknown_connection,  ///< no connection has the identifier in the message
  wrong_state,         ///< the connection does not wait for this message
  wrong_qpn,           ///< a DREQ for another QP
  duplicate,           ///< a repetition of a message that was taken before
  no_room,             ///< the maximum number of connections exists
  impossible,          ///< values that no connection can have, and for which REJ has no reason
  unsupported,         ///< a message of a service that is not offered
};
inline constexpr std::size_t kIgnoredCount = 8;

struct Counters {
  std::uint64_t received = 0;
  std::uint64_t sent = 0;        ///< including repetitions
  std::uint64_t sent_again = 0;  ///< repetitions: no answer came, or the peer sent its message again
  std::uint64_t rejected = 0;    ///< REQs, REPs and SIDR_REQs that we rejected without asking the caller
  std::array<std::uint64_t, kIgnoredCount> ignored{};

  [[nodiscard]] std::uint64_t of(Ignored reason) const { return ignored[static_cast<std::size_t>(reason)]; }
  friend bool operator==(const Counters&, const Counters&) = default;
};

/// A MAD that is to be sent from QP1 to QP1.
struct OutMessage {
  Peer to{};
  std::array<std::byte, kMadSize> mad{};
};

/// The communication manager of a node (IBTA vol. 1, chapter 12), for RC, UC and the datagram services of UD:
/// it takes MADs that QP1 received, and the time, and hands out MADs and events.
/// It does not change the state of any QP; `Connection::agreement()` has the parameters that a QP needs.
///
/// After each call that may change something, take all of `poll_message()` and `poll_event()`;
/// call `advance` at `next_timeout()`. A call that fails has changed nothing.
class ConnectionManager {
 public:
  /// Makes a manager. Error: `invalid_argument` naming the member of `config`.
  [[nodiscard]] static VerbResult<ConnectionManager> make(const Config& config, RandomSource random);
  ConnectionManager(ConnectionManager&&) noexcept;
  ConnectionManager& operator=(ConnectionManager&&) noexcept;
  ~ConnectionManager();

  /// Takes requests for a service; with `address`, only those to that address of an RDMA IP service. Error: `in_use`.
  VerbResult<void> listen(ServiceId service, std::optional<Gid> address = {});
  /// Ends what `listen` began. Error: `unknown_handle`.
  VerbResult<void> stop_listening(ServiceId service, std::optional<Gid> address = {});

  /// Sends a REQ; returns its communication identifier. Errors: `invalid_argument` naming the member, `no_resources`.
  [[nodiscard]] VerbResult<CommId> connect(const ConnectRequest& request, Time now);
  /// Passive: sends the REP. From here on `Connection::agreement()` is complete:
  /// use it to bring the QP to RTS before taking the message, since data may follow the RTU at once.
  /// Errors: `invalid_argument`, `unknown_handle`, `wrong_state`.
  VerbResult<void> accept(CommId id, const Reply& reply, Time now);
  /// Active: sends the RTU; the QP has to be in RTS. `private_data`: at most 224 bytes. Errors as for `accept`.
  VerbResult<void> confirm(CommId id, std::span<const std::byte> private_data, Time now);
  /// Rejects the REQ or REP that came in. The connection is gone. Errors as for `accept`.
  VerbResult<void> reject(CommId id, const Rejection& rejection, Time now);
  /// Asks the peer for time to answer its REQ or REP: `service_timeout` is a time code. Errors as for `accept`.
  VerbResult<void> delay(CommId id, std::uint8_t service_timeout, Time now);
  /// Passive: reports a packet of the connection, which counts as an RTU. Has no effect in other states.
  void data_arrived(CommId id, Time now);
  /// Ends an established connection: sends a DREQ. Errors: `unknown_handle`, `wrong_state`.
  VerbResult<void> disconnect(CommId id, Time now);
  /// Gives up a connection in any state, and sends the peer the message that ends it there, if any.
  /// No event follows. Error: `unknown_handle`.
  VerbResult<void> abandon(CommId id, Time now);

  /// Asks for the QP of a datagram service; returns an identifier for the question. Errors as for `connect`.
  [[nodiscard]] VerbResult<CommId> resolve(const ResolveRequest& request, Time now);
  /// Passive: answers a `resolve_request`, whose identifier is then gone. Errors as for `accept`.
  VerbResult<void> answer(CommId id, const Resolution& resolution, Time now);

  /// Processes the payload of a datagram that QP1 received; keeps no reference to it.
  void receive(Bytes mad, const Peer& from, Time now);
  [[nodiscard]] Time next_timeout() const;
  void advance(Time now);
  /// Returns the next message to be sent, oldest first.
  [[nodiscard]] std::optional<OutMessage> poll_message();
  [[nodiscard]] std::optional<Event> poll_event();

  /// Returns a connection; null if the identifier is unknown. Valid until the next call that is not const.
  [[nodiscard]] const Connection* find(CommId id) const;
  [[nodiscard]] std::size_t connections() const;
  [[nodiscard]] const Counters& counters() const;

 private:
  struct Impl;
  explicit ConnectionManager(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace roce::cm
