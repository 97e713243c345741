// SPDX-License-Identifier: BSD-2-Clause
// The series of a pyramid as JSON, for the page that draws them.
#include "page/timeline_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace roce::page {

namespace {

// The values are written as text at once: there may be a million of them.
void append(std::string& out, std::uint64_t value) {
  out += fmt::format_int(value).c_str();
}

/// Appends numbers of consecutive intervals; only those that are not 0, if they are few.
void append_values(std::string& out, const std::vector<Bucket>& buckets, std::uint64_t Bucket::*member) {
  const auto filled = std::count_if(buckets.begin(), buckets.end(), [&](const Bucket& b) { return b.*member != 0; });
  const bool has_all = static_cast<std::size_t>(filled) * 3 > buckets.size();
  const auto append_each = [&](bool is_place) {
    bool is_first = true;
    for (std::size_t i = 0; i < buckets.size(); ++i) {
      if (!has_all && buckets[i].*member == 0) continue;
      if (!std::exchange(is_first, false)) out += ',';
      append(out, is_place ? i : buckets[i].*member);
    }
  };
  if (!has_all) {
    out += R"({"at":[)";
    append_each(true);
    out += R"(],"of":[)";
    append_each(false);
    out += "]}";
    return;
  }
  out += '[';
  append_each(false);
  out += ']';
}

void append_level(std::string& out, const std::vector<Bucket>& buckets, Measure measure, bool has_windows) {
  char separator = '{';
  const auto add = [&](std::string_view name, std::uint64_t Bucket::*member) {
    out += fmt::format(R"({}"{}":)", std::exchange(separator, ','), name);
    append_values(out, buckets, member);
  };
  if (measure == Measure::sample) {
    add("count", &Bucket::count);
  } else if (measure != Measure::level) {
    add("sum", &Bucket::sum);
  }
  // Where each interval is one window, the least and the highest are the sum.
  if (measure == Measure::sample || measure == Measure::level || (measure == Measure::rate && has_windows)) {
    add("low", &Bucket::low);
    add("high", &Bucket::high);
  }
  out += '}';
}

void append_series(std::string& out, const SeriesInfo& info, std::size_t series, const Pyramid& pyramid,
                   const std::vector<Pyramid::Level>& levels) {
  out += fmt::format(R"({{"name":"{}","measure":"{}","total":{},"levels":[)", info.name, to_string(info.measure),
                     pyramid.total(series));
  for (const Pyramid::Level& level : levels) {
    if (&level != &levels.front()) out += ',';
    append_level(out, level.series[series], info.measure, level.width_ns > pyramid.window_ns());
  }
  out += "]}";
}

}  // namespace

std::vector<Measure> measures_of(std::span<const SeriesInfo> series) {
  std::vector<Measure> all;
  all.reserve(series.size());
  for (const SeriesInfo& info : series) all.push_back(info.measure);
  return all;
}

void append_timeline(std::string& out, Pyramid& pyramid, std::span<const SeriesInfo> series,
                     std::size_t first_optional) {
  const std::vector<Pyramid::Level> levels = pyramid.levels();
  out += fmt::format(R"("window_ns":{},"levels":[)", pyramid.window_ns());
  for (const Pyramid::Level& level : levels) {
    if (&level != &levels.front()) out += ',';
    out += fmt::format(R"({{"width_ns":{},"size":{}}})", level.width_ns, level.size);
  }
  out += R"(],"series":[)";
  bool is_first = true;
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (i >= first_optional && pyramid.total(i) == 0) continue;
    if (!std::exchange(is_first, false)) out += ',';
    append_series(out, series[i], i, pyramid, levels);
  }
  out += ']';
}

}  // namespace roce::page
