// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include "roce/live/endpoint.h"
#include "roce/live/link_metrics.h"
#include "roce/transport/counters.h"

namespace roce::live {

namespace {

/// Returns the help text of a counter, with the names that operators know it by.
[[nodiscard]] std::string help_of(const transport::CounterName& name) {
  std::string help{name.help};
  if (!name.rxe.empty()) help += fmt::format(" rxe: {}.", name.rxe);
  if (!name.mlx5.empty()) help += fmt::format(" mlx5: {}.", name.mlx5);
  return help;
}

}  // namespace

EndpointCounters Endpoint::counters() const {
  return {device_->counters(), link_->counters(), port_->pfc_sent(), messages_, message_bytes_};
}

Metrics Endpoint::metrics() const {
  const MetricLabels device{{"device", interface_}};
  Metrics metrics;
  MetricLabels about = device;
  about.insert(about.end(), {{"address", to_string(gid_)}, {"description", description_}});
  metrics.push_back(
      {"roce_endpoint", MetricKind::info, "The endpoint: its address, and what it runs on.", {{about, 1}}});
  EndpointCounters counters = this->counters();
  if (other_counters_) live::add(counters, other_counters_());
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

}  // namespace roce::live
