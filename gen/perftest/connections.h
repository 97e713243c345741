// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gen/perftest/channel.h"
#include "gen/perftest/options.h"
#include "gen/perftest/pairs.h"
#include "roce/live/rdma_cm.h"
#include "roce/live/script.h"

namespace roce::gen {

/// The RDMA CM connections of one perftest program with -R: one for each queue pair, without that of the channel.
class PerftestConnections {
 public:
  /// `plan` tells a client where its server is; a server needs only `to`, its client. `cm` has to outlive this.
  PerftestConnections(live::RdmaCm& cm, const live::ConnectPlan& plan) : cm_(cm), plan_(plan) {}
  PerftestConnections(const PerftestConnections&) = delete;
  PerftestConnections& operator=(const PerftestConnections&) = delete;

  /// Server: sets how many connections have to come.
  void expect(std::size_t count) { expected_ = count; }
  /// Server: true if a connection that `from` asks for belongs here.
  [[nodiscard]] bool wants(const Gid& from) const { return from == plan_.to && connections_.size() < expected_; }
  /// Server: takes that connection; it is accepted when its turn comes.
  void take(CommId wanted) { connections_.push_back(std::make_unique<live::CmConnection>(cm_, wanted)); }

  /// Connects all queue pairs; ends when they are ready on both sides. Throws: ScriptFailure if the peer rejects one,
  /// does nothing for 10 s, or closes the channel.
  live::Task<> connect(PerftestPairs& pairs, PerftestRole role, PerftestChannel& channel);
  /// Returns the path MTU of the connections, in bytes; 0 before there is one.
  [[nodiscard]] std::uint32_t path_mtu() const { return path_mtu_; }
  /// Ends all connections and waits until the peer agrees, at most 10 s for each. A server first gives its client 1 s
  /// to begin: the client may not have heard yet that its last message arrived.
  live::Task<> disconnect(PerftestRole role);

 private:
  live::Task<> connect_one(live::QueuePair& qp);
  live::Task<> accept_all(PerftestPairs& pairs, PerftestChannel& channel);
  void note(const live::CmConnection& connection);

  live::RdmaCm& cm_;
  live::ConnectPlan plan_;
  std::size_t expected_ = 0;
  std::uint32_t path_mtu_ = 0;
  std::vector<std::unique_ptr<live::CmConnection>> connections_;  // in the order of the queue pairs
};

}  // namespace roce::gen
