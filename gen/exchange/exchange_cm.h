// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gen/exchange/exchange_options.h"
#include "roce/live/control_client.h"
#include "roce/live/rdma_cm.h"

namespace roce::gen {

/// Connects the queue pairs of an exchange by RDMA CM instead of the control protocol; they end with this object.
class ExchangeCm {
 public:
  /// `cm` and `options` have to outlive this object.
  ExchangeCm(live::RdmaCm& cm, const ExchangeOptions& options) : cm_(cm), options_(options) {}

  /// Makes the peer's queue pair `remote` wait at the RDMA port, and connects `own`, which is in INIT, to it.
  /// `path_mtu` is in bytes. Failure: the peer refused one of the two, or another queue pair answered.
  [[nodiscard]] Outcome<void> connect(live::ControlClient& peer, const Gid& to, Qpn own, Qpn remote,
                                      std::uint32_t path_mtu);
  /// Makes the peer's datagram queue pair `remote` wait at the RDMA port, asks for it by SIDR, and returns its Q_Key.
  [[nodiscard]] Outcome<QKey> resolve(live::ControlClient& peer, const Gid& to, Qpn remote);
  /// Handles messages and events of the manager; true if there were any.
  bool step(Time now) { return cm_.step(now); }
  /// Ends all connections and waits until the peer has confirmed. Failure: the link is gone.
  [[nodiscard]] Outcome<void> disconnect();

 private:
  [[nodiscard]] Outcome<void> accept_there(live::ControlClient& peer, Qpn remote) const;

  live::RdmaCm& cm_;
  const ExchangeOptions& options_;
  std::vector<std::unique_ptr<live::CmConnection>> connections_;
};

}  // namespace roce::gen
