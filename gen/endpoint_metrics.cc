// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>
#include <poll.h>

#include "gen/endpoint.h"
#include "gen/link_metrics.h"
#include "roce/transport/counters.h"

namespace roce::gen {

namespace {

/// Returns the help text of a counter, with the names that operators know it by.
[[nodiscard]] std::string help_of(const transport::CounterName& name) {
  std::string help{name.help};
  if (!name.rxe.empty()) help += fmt::format(" rxe: {}.", name.rxe);
  if (!name.mlx5.empty()) help += fmt::format(" mlx5: {}.", name.mlx5);
  return help;
}

}  // namespace

Outcome<void> Endpoint::open_metrics(const EndpointOptions& options) {
  if (options.metrics.address.empty() && options.metrics.file.empty()) return {};
  Outcome<std::unique_ptr<MetricsOutput>> opened = MetricsOutput::open(
      options.metrics, [this] { return collect_metrics(); }, options.json);
  if (!opened) return tl::unexpected(opened.error());
  metrics_ = std::move(*opened);
  if (metrics_->fd() >= 0) driver_->watch(metrics_->fd(), POLLIN, [this](short) { metrics_->serve(); });
  return {};
}

EndpointCounters Endpoint::counters() const {
  return {device_->counters(), link_->counters(), port_->pfc_sent(), messages_, message_bytes_};
}

Metrics Endpoint::collect_metrics() const {
  const MetricLabels device{{"device", interface_}};
  Metrics metrics;
  MetricLabels about = device;
  about.insert(about.end(), {{"address", to_string(gid_)}, {"description", description_}});
  metrics.push_back(
      {"roce_endpoint", MetricKind::info, "The endpoint: its address, and what it runs on.", {{about, 1}}});
  EndpointCounters counters = this->counters();
  if (other_counters_) gen::add(counters, other_counters_());
  for (const transport::CounterName& name : transport::counter_names()) {
    metrics.push_back({fmt::format("roce_{}", name.name),
                       MetricKind::counter,
                       help_of(name),
                       {{device, counters.device.*name.member}}});
  }
  const auto add = [&](const char* name, const char* help, std::uint64_t value) {
    metrics.push_back({name, MetricKind::counter, help, {{device, value}}});
  };
  add("roce_pfc_sent", "PFC frames sent because receives ran low, or were there again.", counters.pfc_sent);
  add("roce_messages", "Messages of the program's own exchange that are done.", counters.messages);
  add("roce_message_bytes", "Bytes of these messages.", counters.message_bytes);
  append_metrics<link::LinkCounters>(metrics, link_counter_rows(), {{device, counters.link}});
  return metrics;
}

void Endpoint::count_message(std::uint64_t bytes) {
  ++messages_;
  message_bytes_ += bytes;
}

}  // namespace roce::gen
