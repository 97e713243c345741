// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "gen/failure.h"
#include "gen/metrics_options.h"
#include "gen/metrics_server.h"
#include "roce/link/output_file.h"

namespace roce::gen {

/// Serves a program's counters while it runs, and writes them to a file when it ends, as its options want it.
class MetricsOutput {
 public:
  /// Failures: what `MetricsServer::open` refuses; the file cannot be written. Says where it serves.
  [[nodiscard]] static Outcome<std::unique_ptr<MetricsOutput>> open(const MetricsOptions& options,
                                                                    CollectMetrics collect, bool json);
  /// Writes the file if that was not done.
  ~MetricsOutput();
  MetricsOutput(const MetricsOutput&) = delete;
  MetricsOutput& operator=(const MetricsOutput&) = delete;

  /// To be polled for reading: then `serve`. -1: nothing is served.
  [[nodiscard]] int fd() const { return server_ ? server_->fd() : -1; }
  void serve() {
    if (server_) server_->serve();
  }
  /// Writes the file, as it stays. Failure: it could not be written whole; what was there before stays.
  [[nodiscard]] Outcome<void> write_file();

 private:
  explicit MetricsOutput(CollectMetrics collect) : collect_(std::move(collect)) {}

  CollectMetrics collect_;
  std::unique_ptr<MetricsServer> server_;
  std::optional<link::OutputFile> file_;  // until it is written
};

}  // namespace roce::gen
