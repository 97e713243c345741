// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <cmath>

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

using Readings = std::vector<std::pair<Qpn, congestion::Reading>>;

/// Appends what the congestion controls of QPs say, of the first ones if there are many.
void append_congestion(Metrics& metrics, const MetricLabels& device, Readings readings) {
  constexpr std::size_t most = 256;
  constexpr double per_million = 1e6;
  if (readings.empty()) return;
  if (readings.size() > most) readings.resize(most);
  const auto add = [&](const char* name, const char* help, auto value) {
    MetricFamily family{name, MetricKind::gauge, help, {}};
    for (const auto& [qpn, reading] : readings) {
      MetricLabels labels = device;
      labels.emplace_back("qp", std::to_string(qpn.value()));
      family.samples.push_back({std::move(labels), static_cast<std::uint64_t>(std::llround(value(reading)))});
    }
    metrics.push_back(std::move(family));
  };
  add("roce_congestion_limited", "1 if the congestion control of the queue pair has set a rate.",
      [](const congestion::Reading& reading) { return reading.limited ? 1.0 : 0.0; });
  add("roce_congestion_rate_bps", "Rate that the congestion control allows, in bits a second.",
      [](const congestion::Reading& reading) { return reading.rate_bps; });
  add("roce_congestion_target_bps", "Rate that it recovers to, in bits a second.",
      [](const congestion::Reading& reading) { return reading.target_bps; });
  add("roce_congestion_alpha_ppm", "Estimate of congestion of DCQCN (alpha), in millionths.",
      [](const congestion::Reading& reading) { return reading.alpha * per_million; });
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
  append_congestion(metrics, device, device_->congestion_readings(now()));
  append_metrics<link::LinkCounters>(metrics, link_counter_rows(), {{device, counters.link}});
  return metrics;
}

void Endpoint::count_message(std::uint64_t bytes) {
  ++messages_;
  message_bytes_ += bytes;
}

}  // namespace roce::live
