// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "gen/exchange/exchange_options.h"
#include "roce/live/control_client.h"
#include "roce/live/endpoint.h"
#include "roce/live/rdma_cm.h"
#include "roce/transport/counters.h"
#include "runtime/latency.h"

namespace roce::gen {

/// The result of an exchange.
struct ExchangeResult {
  std::uint64_t completed = 0;
  std::uint64_t bytes = 0;  ///< bytes of completed messages
  std::uint64_t lost = 0;   ///< messages sent and not received, on UC and UD
  Time started{};
  Time ended{};                       ///< completion of the last message
  runtime::LatencyHistogram latency;  ///< time from posting to completion
  transport::Counters ours;
  std::vector<std::pair<Qpn, congestion::Reading>> congestion;  ///< at the end, of the queue pairs with a control
  nlohmann::json theirs;                                        ///< counters of the peer's device
  bool stopped = false;                                         ///< ended by a signal

  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(ended - started).count(); }
};

/// Runs an exchange with a peer: makes queue pairs and memory on both sides, runs the operations, and compares all data
/// that it can: each received SEND and datagram, the result of each READ and atomic, and for WRITEs the peer's memory
/// at the end. `cm` is needed, and used, with `options.cm_port` only.
[[nodiscard]] Outcome<ExchangeResult> run_exchange(live::Endpoint& endpoint, live::ControlClient& peer,
                                                   const ExchangeOptions& options, live::RdmaCm* cm);

}  // namespace roce::gen
