// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "command_line/outcome.h"
#include "metrics/metrics_options.h"
#include "metrics/metrics_server.h"
#include "roce/link/output_file.h"

namespace roce::metrics {

/// Serves a program's counters while it runs, and writes them to a file when it ends, as its options ask for.
class MetricsOutput {
 public:
  /// Opens what the options name, and prints where it serves. Failures: those of `MetricsServer::open`, or of the file.
  [[nodiscard]] static Outcome<std::unique_ptr<MetricsOutput>> open(const MetricsOptions& options,
                                                                    CollectMetrics collect, bool json);
  /// Writes the file unless `write_file` has done so.
  ~MetricsOutput();
  MetricsOutput(const MetricsOutput&) = delete;
  MetricsOutput& operator=(const MetricsOutput&) = delete;

  /// Returns the file descriptor to poll: when it is readable, call `serve`. -1: nothing is served.
  [[nodiscard]] int fd() const { return server_ ? server_->fd() : -1; }
  void serve() {
    if (server_) server_->serve();
  }
  /// Writes the final file. Failure: it could not be written completely; what was there before stays.
  [[nodiscard]] Outcome<void> write_file();
  /// Writes no file and asks for no counters any more; what was there before stays.
  void abandon() { file_.reset(); }

 private:
  explicit MetricsOutput(CollectMetrics collect) : collect_(std::move(collect)) {}

  CollectMetrics collect_;
  std::unique_ptr<MetricsServer> server_;
  std::optional<link::OutputFile> file_;  // until it is written
};

}  // namespace roce::metrics
