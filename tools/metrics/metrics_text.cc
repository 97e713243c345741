// SPDX-License-Identifier: BSD-2-Clause
#include "metrics/metrics_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace roce::metrics {

namespace {

/// Escapes text as both formats require it in help texts and label values.
[[nodiscard]] std::string escape(std::string_view text, bool quotes) {
  std::string result;
  for (const char c : text) {
    if (c == '\n') {
      result += "\\n";
    } else {
      if (c == '\\' || (quotes && c == '"')) result += '\\';
      result += c;
    }
  }
  return result;
}

[[nodiscard]] std::string_view kind_name(live::MetricKind kind) {
  switch (kind) {
    case live::MetricKind::counter:
      return "counter";
    case live::MetricKind::gauge:
      return "gauge";
    case live::MetricKind::info:
      return "info";
  }
  return "";
}

[[nodiscard]] std::string sample_name(const live::MetricFamily& family) {
  switch (family.kind) {
    case live::MetricKind::counter:
      return family.name + "_total";
    case live::MetricKind::gauge:
      return family.name;
    case live::MetricKind::info:
      return family.name + "_info";
  }
  return family.name;
}

void append_samples(std::string& text, const live::MetricFamily& family) {
  for (const live::MetricSample& sample : family.samples) {
    text += sample_name(family);
    char before = '{';
    for (const auto& [name, value] : sample.labels) {
      text += fmt::format("{}{}=\"{}\"", before, name, escape(value, true));
      before = ',';
    }
    text += fmt::format("{} {}\n", sample.labels.empty() ? "" : "}", sample.value);
  }
}

}  // namespace

std::string to_openmetrics(const live::Metrics& metrics) {
  std::string text;
  for (const live::MetricFamily& family : metrics) {
    text += fmt::format("# TYPE {} {}\n", family.name, kind_name(family.kind));
    if (family.name.ends_with("_bytes")) text += fmt::format("# UNIT {} bytes\n", family.name);
    text += fmt::format("# HELP {} {}\n", family.name, escape(family.help, true));
    append_samples(text, family);
  }
  return text + "# EOF\n";
}

std::string to_prometheus(const live::Metrics& metrics) {
  std::string text;
  for (const live::MetricFamily& family : metrics) {
    // This format does not know the kind info, and takes the name of the samples.
    const live::MetricKind kind = family.kind == live::MetricKind::info ? live::MetricKind::gauge : family.kind;
    text += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", sample_name(family), escape(family.help, false),
                        kind_name(kind));
    append_samples(text, family);
  }
  return text;
}

nlohmann::ordered_json to_json(const live::Metrics& metrics) {
  nlohmann::ordered_json samples = nlohmann::ordered_json::array();
  for (const live::MetricFamily& family : metrics) {
    for (const live::MetricSample& sample : family.samples) {
      nlohmann::ordered_json labels = nlohmann::ordered_json::object();
      for (const auto& [name, value] : sample.labels) labels[name] = value;
      samples.push_back({{"name", sample_name(family)}, {"labels", std::move(labels)}, {"value", sample.value}});
    }
  }
  return {{"samples", std::move(samples)}};
}

}  // namespace roce::metrics
