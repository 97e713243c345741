// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gen/control_client.h"
#include "gen/endpoint.h"
#include "gen/exchange.h"

namespace roce::gen {

/// An exchange whose queue pairs are divided among the shards of an endpoint, each in a thread of its own.
class ShardedExchange {
 public:
  /// Opens the shards, and for each a control connection, to the shards of the peer in turn. Failures: those of
  /// `Endpoint::open_shards` and `ControlClient::open`; fewer queue pairs than shards; RDMA CM is asked for.
  [[nodiscard]] static Outcome<std::unique_ptr<ShardedExchange>> open(const EndpointOptions& endpoint,
                                                                      const ExchangeOptions& exchange,
                                                                      const ControlAddress& address);

  [[nodiscard]] const std::string& description() const { return shards_.front()->description(); }
  /// Runs all parts at the same time. The result is their sum, from the beginning of the first to the end of the last.
  /// The first failure stops the others.
  [[nodiscard]] Outcome<ExchangeResult> run();
  /// Closes the shards as `Endpoint::close` does, and returns the first failure.
  [[nodiscard]] Outcome<void> close();

 private:
  ShardedExchange() = default;

  std::vector<std::unique_ptr<Endpoint>> shards_;
  std::vector<std::unique_ptr<ControlClient>> peers_;  // one for each of `shards_`
  std::vector<ExchangeOptions> parts_;                 // one for each of `shards_`
};

}  // namespace roce::gen
