// SPDX-License-Identifier: BSD-2-Clause
#include "metrics/metrics_output.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "metrics/metrics_text.h"
#include "runtime/note.h"

namespace roce::metrics {

Outcome<std::unique_ptr<MetricsOutput>> MetricsOutput::open(const MetricsOptions& options, CollectMetrics collect,
                                                            bool json) {
  std::unique_ptr<MetricsOutput> output{new MetricsOutput{collect}};
  if (!options.address.empty()) {
    Outcome<std::unique_ptr<MetricsServer>> server = MetricsServer::open(options.address, std::move(collect));
    if (!server) return tl::unexpected(server.error());
    output->server_ = std::move(*server);
  }
  if (!options.file.empty()) {
    link::Result<link::OutputFile> file = link::OutputFile::create(options.file);
    if (!file) {
      return cannot(
          fmt::format("cannot write the metrics to {}; give another path with --metrics-file", file.error().message));
    }
    output->file_ = std::move(*file);
  }
  if (output->server_) runtime::print_note("metrics", fmt::format("metrics at {}", output->server_->url()), json);
  return output;
}

MetricsOutput::~MetricsOutput() {
  (void)write_file();
}

Outcome<void> MetricsOutput::write_file() {
  if (!file_) return {};
  // Names of interfaces and paths need not be UTF-8.
  const std::string text = to_json(collect_()).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  link::Result<void> written = file_->write(std::as_bytes(std::span{text}));
  if (written) written = file_->close();
  file_.reset();
  if (!written) return failed(written.error().message);
  return {};
}

}  // namespace roce::metrics
