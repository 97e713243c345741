// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gen/perftest_channel.h"
#include "gen/perftest_options.h"
#include "gen/perftest_pairs.h"
#include "gen/rdma_cm.h"
#include "gen/script.h"

namespace roce::gen {

/// What RDMA CM connects for one perftest program with -R beside the channel: each of its queue pairs.
class PerftestConnections {
 public:
  /// `plan` says where a client finds its server; a server needs only `to`, its client. `cm` has to outlive this.
  PerftestConnections(RdmaCm& cm, const ConnectPlan& plan) : cm_(cm), plan_(plan) {}
  PerftestConnections(const PerftestConnections&) = delete;
  PerftestConnections& operator=(const PerftestConnections&) = delete;

  /// Server: so many connections have to come.
  void expect(std::size_t count) { expected_ = count; }
  /// Server: whether a connection that somebody wants belongs here.
  [[nodiscard]] bool wants(const Gid& from) const { return from == plan_.to && connections_.size() < expected_; }
  /// Server: takes that connection; it is accepted when its turn comes.
  void take(CommId wanted) { connections_.push_back(std::make_unique<CmConnection>(cm_, wanted)); }

  /// Connects all queue pairs; ends when they are ready on both sides. Throws: ScriptFailure when the peer rejects one,
  /// or does nothing for 10 s, or closes the channel.
  Task<> connect(PerftestPairs& pairs, PerftestRole role, PerftestChannel& channel);
  /// Bytes, as the connections have it; 0 before there is one.
  [[nodiscard]] std::uint32_t path_mtu() const { return path_mtu_; }
  /// Ends all connections and waits until the peer agrees, 10 s at most for each. A server lets its client begin, for 1
  /// s: as long as that may not have heard that its last message came.
  Task<> disconnect(PerftestRole role);

 private:
  Task<> connect_one(QueuePair& qp);
  Task<> accept_all(PerftestPairs& pairs, PerftestChannel& channel);
  void note(const CmConnection& connection);

  RdmaCm& cm_;
  ConnectPlan plan_;
  std::size_t expected_ = 0;
  std::uint32_t path_mtu_ = 0;
  std::vector<std::unique_ptr<CmConnection>> connections_;  // in the order of the queue pairs
};

}  // namespace roce::gen
