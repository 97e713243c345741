// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace roce::live {

enum class MetricKind : std::uint8_t {
  counter,  ///< only grows
  gauge,
  info,  ///< always 1; its labels carry the information
};

using MetricLabels = std::vector<std::pair<std::string, std::string>>;

struct MetricSample {
  MetricLabels labels;
  std::uint64_t value = 0;
};

/// One metric with its values.
struct MetricFamily {
  std::string name;  ///< without `_total` or `_info`; one that counts bytes ends in `_bytes`
  MetricKind kind = MetricKind::counter;
  std::string help;
  std::vector<MetricSample> samples;
};

using Metrics = std::vector<MetricFamily>;

/// A row of a table of counters, from which reports, metrics and their documentation come.
template <typename T>
struct CounterRow {
  std::uint64_t T::*member;
  std::string_view name;    ///< its name in reports
  std::string_view metric;  ///< its name in metrics, without `roce_` in front and `_total`
  std::string_view help;
  MetricKind kind = MetricKind::counter;
};

/// Appends a metric family for each row, with a sample for each of `values`.
template <typename T>
void append_metrics(Metrics& metrics, std::span<const CounterRow<T>> rows,
                    const std::vector<std::pair<MetricLabels, T>>& values) {
  for (const CounterRow<T>& row : rows) {
    MetricFamily family{"roce_" + std::string{row.metric}, row.kind, std::string{row.help}, {}};
    for (const auto& [labels, counters] : values) family.samples.push_back({labels, counters.*row.member});
    metrics.push_back(std::move(family));
  }
}

}  // namespace roce::live
