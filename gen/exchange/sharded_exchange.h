// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gen/exchange/exchange.h"
#include "options/program_endpoint.h"
#include "roce/live/control_client.h"
#include "roce/live/endpoint.h"

namespace roce::gen {

/// An exchange whose queue pairs are divided among the shards of an endpoint, each in a thread of its own.
class ShardedExchange {
 public:
  /// Opens the shards, and for each a control connection, to the shards of the peer in turn. Failures: those of
  /// `ProgramEndpoint::open` and `ControlClient::open`; fewer queue pairs than shards; RDMA CM is asked for.
  [[nodiscard]] static Outcome<std::unique_ptr<ShardedExchange>> open(const options::ProgramOptions& endpoint,
                                                                      const ExchangeOptions& exchange,
                                                                      const live::ControlAddress& address);

  [[nodiscard]] const std::string& description() const { return program_->first().description(); }
  /// Runs all parts at the same time. The result is their sum, from the beginning of the first to the end of the last.
  /// The first failure stops the others.
  [[nodiscard]] Outcome<ExchangeResult> run();
  /// Closes the shards as `ProgramEndpoint::close` does.
  [[nodiscard]] Outcome<void> close();

 private:
  ShardedExchange() = default;

  std::unique_ptr<options::ProgramEndpoint> program_;
  std::vector<std::unique_ptr<live::ControlClient>> peers_;  // one for each shard
  std::vector<ExchangeOptions> parts_;                       // one for each shard
};

}  // namespace roce::gen
