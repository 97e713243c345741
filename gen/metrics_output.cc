// SPDX-License-Identifier: BSD-2-Clause
#include "gen/metrics_output.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "gen/pingpong_report.h"

namespace roce::gen {

Outcome<std::unique_ptr<MetricsOutput>> MetricsOutput::open(const MetricsOptions& options, CollectMetrics collect,
                                                            bool json) {
  std::unique_ptr<MetricsOutput> output{new MetricsOutput{options.file, collect}};
  if (!options.address.empty()) {
    Outcome<std::unique_ptr<MetricsServer>> server = MetricsServer::open(options.address, std::move(collect));
    if (!server) return tl::unexpected(server.error());
    output->server_ = std::move(*server);
  }
  if (!options.file.empty()) {
    output->file_.reset(std::fopen(options.file.c_str(), "we"));
    if (output->file_ == nullptr) {
      return cannot(fmt::format("cannot write the metrics to {}: {}; give another path with --metrics-file",
                                options.file, std::strerror(errno)));
    }
  }
  if (output->server_) print_note("metrics", fmt::format("metrics at {}", output->server_->url()), json);
  return output;
}

MetricsOutput::~MetricsOutput() {
  (void)write_file();
}

Outcome<void> MetricsOutput::write_file() {
  if (file_ == nullptr) return {};
  // Names of interfaces and paths need not be UTF-8.
  const std::string text = to_json(collect_()).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  const bool is_whole =
      std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size() && std::fflush(file_.get()) == 0;
  file_.reset();
  if (is_whole) return {};
  return failed(fmt::format("the metrics {} could not be written whole; is the disk full?", path_));
}

}  // namespace roce::gen
