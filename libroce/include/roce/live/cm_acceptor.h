// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "roce/live/rdma_cm.h"

namespace roce::live {

/// Queue pairs that wait for a peer to connect to them by RDMA CM, or to ask for them by SIDR. Those at the same port
/// are given out in the order of `accept`.
class CmAcceptor {
 public:
  explicit CmAcceptor(RdmaCm& cm) : cm_(cm) {}
  /// Ends the connections, and tells the peers.
  ~CmAcceptor();
  CmAcceptor(const CmAcceptor&) = delete;
  CmAcceptor& operator=(const CmAcceptor&) = delete;

  /// The terms on which a queue pair accepts a connection.
  struct Terms {
    std::uint8_t rd_atomic = 16;  ///< READs and atomics outstanding at a time, each direction
    std::uint8_t rnr_retry = 7;   ///< RNR retries of the requester at the other end
    QKey q_key{};                 ///< Q_Key of a UD queue pair
  };
  /// Lets `qp` wait: the next REQ for `port` of the TCP port space connects an RC or UC one, in INIT; the next SIDR_REQ
  /// for `port` of the UDP port space is answered with a UD one, in RTS. Throws: ScriptFailure if the port is taken.
  void accept(Qpn qp, std::uint16_t port, const Terms& terms);
  /// Rejects the next REQ for `port`, as a program does that does not want it. Throws as `accept` does.
  void refuse(std::uint16_t port);
  /// Ends the wait or the connection that `accept` began. Must be called before the queue pair is destroyed.
  void forget(Qpn qp);

  /// How far a queue pair has come.
  enum class State : std::uint8_t {
    none,       ///< it was not given to `accept`
    waiting,    ///< nobody has connected or asked yet
    connected,  ///< for UD: a peer has been told of it
    over,       ///< the connection has ended
  };
  [[nodiscard]] State state(Qpn qp) const;

 private:
  /// An entry in the queue of a port. Without a queue pair, the request is refused.
  struct Waiting {
    std::optional<Qpn> qp{};
    Terms terms{};
  };

  void enqueue(ServiceId service, const Waiting& waiting);
  void take(ServiceId service, CommId id, Time now);
  void connect(const Waiting& waiting, CommId id, Time now);

  RdmaCm& cm_;
  std::map<ServiceId, std::deque<Waiting>> ports_;  // only ports that we listen on
  std::map<Qpn, std::unique_ptr<CmConnection>> connections_;
  std::set<Qpn> resolved_;
};

}  // namespace roce::live
