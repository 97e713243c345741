// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "command_line/outcome.h"
#include "roce/live/metrics.h"

namespace roce::metrics {

/// Returns the current metrics.
using CollectMetrics = std::function<live::Metrics()>;

/// Serves metrics by HTTP at /metrics, as OpenMetrics or in the older text format, whichever the client prefers. It has
/// no thread of its own: the caller's loop serves, so that counters are never read while they change.
class MetricsServer {
 public:
  /// Listens at `PORT` of the loopback address, `ADDRESS:PORT` or `[ADDRESS]:PORT`; port 0 takes one that is free.
  /// Failures: not such an address, the port is taken or not allowed.
  [[nodiscard]] static Outcome<std::unique_ptr<MetricsServer>> open(const std::string& address, CollectMetrics collect);
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  /// Returns a file descriptor that is readable when `serve` has something to do.
  [[nodiscard]] int fd() const;
  /// Answers the requests that have come, without waiting.
  void serve();
  /// Returns the URL, such as `http://127.0.0.1:9400/metrics`.
  [[nodiscard]] const std::string& url() const;

 private:
  struct State;
  explicit MetricsServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace roce::metrics
