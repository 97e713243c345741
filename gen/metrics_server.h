// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "gen/failure.h"
#include "gen/metrics.h"

namespace roce::gen {

/// What the metrics are now.
using CollectMetrics = std::function<Metrics()>;

/// Serves metrics by HTTP at /metrics, as OpenMetrics or in the older text format, as the client likes it. It has no
/// thread: the caller's loop serves, so that counters are never read while they change.
class MetricsServer {
 public:
  /// Listens at `PORT` of the loopback address, `ADDRESS:PORT` or `[ADDRESS]:PORT`; port 0 is one that is free.
  /// Failures: no such address, the port is taken or not allowed.
  [[nodiscard]] static Outcome<std::unique_ptr<MetricsServer>> open(const std::string& address, CollectMetrics collect);
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  /// Readable when `serve` has something to do.
  [[nodiscard]] int fd() const;
  /// Answers who asked, without waiting.
  void serve();
  /// `http://127.0.0.1:9400/metrics`.
  [[nodiscard]] const std::string& url() const;

 private:
  struct State;
  explicit MetricsServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace roce::gen
