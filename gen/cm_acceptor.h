// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "gen/rdma_cm.h"

namespace roce::gen {

/// Queue pairs that wait until somebody connects to them by RDMA CM, or asks for them: one after the other at each
/// port.
class CmAcceptor {
 public:
  explicit CmAcceptor(RdmaCm& cm) : cm_(cm) {}
  /// Ends the connections, and tells the peers.
  ~CmAcceptor();
  CmAcceptor(const CmAcceptor&) = delete;
  CmAcceptor& operator=(const CmAcceptor&) = delete;

  /// What a queue pair agrees to.
  struct Terms {
    std::uint8_t rd_atomic = 16;  ///< READs and atomics at a time, each direction
    std::uint8_t rnr_retry = 7;   ///< of the requester at the other end
    QKey q_key{};                 ///< of a UD queue pair
  };
  /// RC or UC in INIT: the next REQ for `port` of the TCP port space connects it. UD in RTS: the next SIDR_REQ for
  /// `port` of the UDP port space is told of it. Throws: ScriptFailure where somebody else listens there.
  void accept(Qpn qp, std::uint16_t port, const Terms& terms);
  /// The next REQ for `port` is rejected, as by a program that does not want it. Throws as `accept`.
  void refuse(std::uint16_t port);
  /// Ends what `accept` began. To be called before the queue pair goes.
  void forget(Qpn qp);

  /// How far it is with a queue pair.
  enum class State : std::uint8_t {
    none,       ///< it was not given to `accept`
    waiting,    ///< nobody has come yet
    connected,  ///< for UD: somebody was told of it
    over,       ///< it was connected and is no more
  };
  [[nodiscard]] State state(Qpn qp) const;

 private:
  /// Without a queue pair: whoever comes is refused.
  struct Waiting {
    std::optional<Qpn> qp{};
    Terms terms{};
  };

  void enqueue(ServiceId service, const Waiting& waiting);
  void take(ServiceId service, CommId id, Time now);
  void connect(const Waiting& waiting, CommId id, Time now);

  RdmaCm& cm_;
  std::map<ServiceId, std::deque<Waiting>> ports_;  // those that are listened at
  std::map<Qpn, std::unique_ptr<CmConnection>> connections_;
  std::set<Qpn> resolved_;
};

}  // namespace roce::gen
