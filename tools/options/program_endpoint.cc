// SPDX-License-Identifier: BSD-2-Clause
#include "options/program_endpoint.h"

#include <poll.h>

#include <csignal>
#include <string_view>
#include <utility>

#include "files/file_use.h"
#include "options/written_files.h"
#include "runtime/note.h"

namespace roce::options {

ProgramEndpoint::ProgramEndpoint() {
  // A write to a connection that the peer has closed should fail, not end the program.
  std::signal(SIGPIPE, SIG_IGN);
}

ProgramEndpoint::~ProgramEndpoint() {
  if (metrics_ != nullptr && metrics_->fd() >= 0 && !shards_.empty()) first().driver().forget(metrics_->fd());
}

Outcome<std::unique_ptr<ProgramEndpoint>> ProgramEndpoint::open(const ProgramOptions& options) {
  if (const auto conflict = files::find_conflict({}, written_files(options))) return cannot(*conflict);
  std::unique_ptr<ProgramEndpoint> program{new ProgramEndpoint};
  live::EndpointOptions endpoint = static_cast<const live::EndpointOptions&>(options);
  endpoint.stop_fd = program->signal_.fd();
  endpoint.note = [verbose = options.verbose, json = options.json](std::string_view event, std::string_view text) {
    if (verbose || event != "segmentation") runtime::print_note(event, text, json);
  };
  if (!options.metrics.address.empty() || !options.metrics.file.empty()) {
    // The metrics are there before anything is sent.
    endpoint.before_first_frame = [&options,
                                   &metrics = program->metrics_](live::Endpoint& first) -> live::Result<void> {
      Outcome<std::unique_ptr<metrics::MetricsOutput>> opened = metrics::MetricsOutput::open(
          options.metrics, [&first] { return first.metrics(); }, options.json);
      if (!opened) {
        const bool has_begun = opened.error().code == ExitCode::failed;
        return tl::unexpected(live::Error{.message = opened.error().message, .has_begun = has_begun});
      }
      metrics = std::move(*opened);
      if (metrics->fd() >= 0) {
        first.driver().watch(metrics->fd(), POLLIN, [&output = *metrics](short) { output.serve(); });
      }
      return {};
    };
  }
  live::Result<std::vector<std::unique_ptr<live::Endpoint>>> shards = live::Endpoint::open_shards(endpoint);
  if (!shards) {
    // The endpoint whose counters it would write is gone.
    if (program->metrics_ != nullptr) program->metrics_->abandon();
    return tl::unexpected(shards.error());
  }
  program->shards_ = std::move(*shards);
  return program;
}

Outcome<void> ProgramEndpoint::close() {
  Outcome<void> closed;
  for (const std::unique_ptr<live::Endpoint>& shard : shards_) {
    if (live::Result<void> one = shard->close(); !one && closed) closed = tl::unexpected(Failure{one.error()});
  }
  Outcome<void> written = metrics_ != nullptr ? metrics_->write_file() : Outcome<void>{};
  return closed ? written : closed;
}

}  // namespace roce::options
