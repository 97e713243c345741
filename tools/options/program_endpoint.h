// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <vector>

#include "command_line/outcome.h"
#include "metrics/metrics_output.h"
#include "options/program_options.h"
#include "roce/live/endpoint.h"
#include "runtime/stop_signal.h"

namespace roce::options {

/// The endpoint of a program, as its options ask for it: SIGINT and SIGTERM end its event loops, its metrics are served
/// and written, and what happens to its link is printed.
class ProgramEndpoint {
 public:
  /// Opens `options.shards` shards. Failures: those of `Endpoint::open_shards` and `MetricsOutput::open`; a file that
  /// is named twice.
  [[nodiscard]] static Outcome<std::unique_ptr<ProgramEndpoint>> open(const ProgramOptions& options);
  ~ProgramEndpoint();
  ProgramEndpoint(const ProgramEndpoint&) = delete;
  ProgramEndpoint& operator=(const ProgramEndpoint&) = delete;

  /// Returns the first shard, which has QP1.
  [[nodiscard]] live::Endpoint& first() { return *shards_.front(); }
  [[nodiscard]] const std::vector<std::unique_ptr<live::Endpoint>>& shards() const { return shards_; }
  /// Ends the capture file and writes the metrics file, if they were asked for. Failure: the first.
  [[nodiscard]] Outcome<void> close();

 private:
  ProgramEndpoint();

  runtime::StopSignal signal_;
  std::vector<std::unique_ptr<live::Endpoint>> shards_;
  std::unique_ptr<metrics::MetricsOutput> metrics_;
};

}  // namespace roce::options
