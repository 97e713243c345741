// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "roce/cm/gsi_agent.h"
#include "roce/live/endpoint.h"
#include "roce/live/script.h"
#include "roce/live/verbs.h"

namespace roce::live {

/// The communication manager of an endpoint, for scripts.
class RdmaCm {
 public:
  /// Makes QP1. Failure: a verb failed.
  [[nodiscard]] static Result<std::unique_ptr<RdmaCm>> open(Endpoint& endpoint);

  /// Calls `arrived` with the identifier of each request to `service`, for a connection or for a datagram QP. `arrived`
  /// has to make a `CmConnection` of it, answer it (for a datagram QP), or reject it.
  [[nodiscard]] Result<void> listen(ServiceId service, std::function<void(CommId, Time)> arrived);
  /// Stops reporting requests to `service`, which are rejected from now on.
  void stop_listening(ServiceId service);
  /// Does as `listen`, in the place of whoever listens to the service, until `give_back`. Failure: it was taken over
  /// already.
  [[nodiscard]] Result<void> take_over(ServiceId service, std::function<void(CommId, Time)> arrived);
  /// Ends what `take_over` began.
  void give_back(ServiceId service);
  /// Calls `happened` with each further event of a connection, until `forget`.
  void watch(CommId id, std::function<void(const cm::Event&)> happened) { handlers_[id] = std::move(happened); }
  void forget(CommId id) { handlers_.erase(id); }

  /// Sends and receives messages and handles events; true if there were any. To be called in each step of the program.
  bool step(Time now);

  [[nodiscard]] Endpoint& endpoint() const { return endpoint_; }
  [[nodiscard]] cm::GsiAgent& agent() { return *agent_; }
  [[nodiscard]] cm::ConnectionManager& manager() { return agent_->manager(); }
  /// Returns the address vector of a connection's other end. Throws: ScriptFailure if `peer.local` is not our address.
  [[nodiscard]] transport::AddressVector address_of(const cm::Peer& peer) const;

 private:
  friend class CmConnection;
  friend class CmQuestion;
  RdmaCm(Endpoint& endpoint, std::unique_ptr<cm::GsiAgent> agent) : endpoint_(endpoint), agent_(std::move(agent)) {}
  void take(const cm::Event& event, Time now);

  Endpoint& endpoint_;
  std::unique_ptr<cm::GsiAgent> agent_;
  std::map<ServiceId, std::function<void(CommId, Time)>> listeners_;
  std::map<ServiceId, std::function<void(CommId, Time)>> takers_;  // in the place of those of `listeners_`
  std::map<CommId, std::function<void(const cm::Event&)>> handlers_;
  Time now_{};
};

/// A connection that the peer rejected.
class ConnectionRejected : public ScriptFailure {
 public:
  ConnectionRejected(const std::string& what, CmRejReason why) : ScriptFailure(what), reason(why) {}
  CmRejReason reason;
};

/// The parameters of `rdma_connect` on the active side.
struct ConnectPlan {
  Gid to{};
  std::uint16_t port = 0;
  std::uint8_t responder_resources = 1;
  std::uint8_t initiator_depth = 1;
  std::uint8_t retry_count = 7;
  std::uint8_t rnr_retry_count = 7;
  std::uint8_t traffic_class = 0;  ///< DSCP << 2 | ECN, of the packets in both directions
  std::uint32_t path_mtu = 0;      ///< bytes; 0: the largest of the endpoint
};

/// Returns the RDMA IP CM header in front of the private data for `to`; `source_port` is a port that nobody serves.
[[nodiscard]] std::vector<std::byte> rdma_ip_header(const Endpoint& endpoint, const Gid& to, std::uint16_t source_port);
/// Returns a random port of the range that systems give to programs that ask for none: 32768 … 60999.
[[nodiscard]] std::uint16_t any_source_port(Random& random);

/// Moves a QP to INIT, so that receives can be posted before it is connected.
void prepare(QueuePair& qp, Time now);

/// A connection as a script sees it. Destroying the object ends the connection, and the peer is told.
class CmConnection {
 public:
  /// Takes a connection that a peer asks for, by the identifier that `RdmaCm::listen` reports.
  CmConnection(RdmaCm& cm, CommId id);
  /// Makes an object without a connection yet, for `connect`.
  explicit CmConnection(RdmaCm& cm) : cm_(cm) {}
  ~CmConnection();
  CmConnection(const CmConnection&) = delete;
  CmConnection& operator=(const CmConnection&) = delete;

  /// Sends a REQ, makes `qp` (RC or UC, in INIT) ready when the REP comes, and confirms. Throws: ConnectionRejected;
  /// ScriptFailure if nobody answers, or our side refuses it.
  Task<> connect(Qpn qp, ConnectPlan plan);
  /// Makes `qp` (RC or UC, in INIT) ready and sends a REP. Agrees on as many READs and atomics at a time as both sides
  /// can have, at most `rd_atomic`. Throws: ScriptFailure.
  void accept(Qpn qp, std::uint8_t rd_atomic, std::uint8_t rnr_retry_count, Time now);
  /// Waits until the peer's QP is ready, which its first message shows too. Throws: ScriptFailure if it never is.
  Task<> established(QueuePair& qp);
  /// Waits until a send request of `qp` has completed. Throws:
  /// ScriptFailure if the request fails, or the connection has ended.
  Task<> sent(QueuePair& qp);
  /// Ends the connection and waits until the peer has agreed, at most 10 s.
  Task<> disconnect();

  /// True if it is established and neither side has ended it.
  [[nodiscard]] bool is_open() const { return state_ == State::established; }
  /// True if the peer, or the network, has ended it.
  [[nodiscard]] bool is_over() const { return state_ == State::over; }
  /// Returns what the manager knows of it; null if the manager has forgotten it.
  [[nodiscard]] const cm::Connection* get() const { return cm_.manager().find(id_); }

 private:
  friend class RdmaCm;
  enum class State : std::uint8_t { none, waiting, replied, established, over };

  void take(const cm::Event& event);
  void make_ready(Qpn qp, Time now);
  [[nodiscard]] const cm::Connection& existing() const;

  RdmaCm& cm_;
  CommId id_{};
  State state_ = State::none;
  std::string why_;  // why it is over
  std::optional<CmRejReason> rejected_;
};

/// A search for the datagram QP of a service, as a script sees it.
class CmQuestion {
 public:
  explicit CmQuestion(RdmaCm& cm) : cm_(cm) {}
  ~CmQuestion();
  CmQuestion(const CmQuestion&) = delete;
  CmQuestion& operator=(const CmQuestion&) = delete;

  /// Sends a SIDR_REQ for a port of the UDP port space and waits for the QP and its Q_Key. Throws: ScriptFailure if
  /// there is none, or nobody answers.
  Task<CmSidrRep> resolve(Gid to, std::uint16_t port);

 private:
  RdmaCm& cm_;
  CommId id_{};
  std::optional<cm::Event> answer_;
};

}  // namespace roce::live
