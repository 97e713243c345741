// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/join/clock_drift.h"

#include <array>
#include <cmath>
#include <vector>

namespace roce::analyze {

namespace {

constexpr std::size_t kWindows = 64;
constexpr std::size_t kLeastWindows = 8;
constexpr std::int64_t kLeastSpan = 1'000'000'000;
// A clock's drift is always smaller; a larger one comes from times that jump.
constexpr double kMostDrift = 0.01;
// More legs would make the estimate slower but not better.
constexpr std::size_t kMostLegs = 32;

struct Point {
  double time;
  double difference;
};

Point speaker_of(std::vector<Point>& window, WindowEdge edge) {
  const auto less = [](const Point& x, const Point& y) { return x.difference < y.difference; };
  if (edge == WindowEdge::smallest) return *std::min_element(window.begin(), window.end(), less);
  if (edge == WindowEdge::largest) return *std::max_element(window.begin(), window.end(), less);
  const auto middle = window.begin() + static_cast<std::ptrdiff_t>(window.size() / 2);
  std::nth_element(window.begin(), middle, window.end(), less);
  return *middle;
}

double scatter_around(const std::vector<std::vector<Point>>& legs, double slope) {
  std::vector<double> distances;
  for (const std::vector<Point>& points : legs) {
    std::vector<double> rest;
    rest.reserve(points.size());
    for (const Point& point : points) rest.push_back(point.difference - slope * point.time);
    const double middle = median_of(rest);
    for (const double value : rest) distances.push_back(std::abs(value - middle));
  }
  return median_of(distances);
}

}  // namespace

std::optional<double> clock_drift(std::span<const DelaySample> samples, std::span<const WindowEdge> edges) {
  if (samples.empty()) return std::nullopt;
  const auto by_time = [](const DelaySample& x, const DelaySample& y) { return x.time_ns < y.time_ns; };
  const auto [first, last] = std::minmax_element(samples.begin(), samples.end(), by_time);
  const std::int64_t start = first->time_ns;
  const std::int64_t span = last->time_ns - start;
  const std::int64_t base = first->difference_ns;
  if (span < kLeastSpan) return std::nullopt;

  std::vector<std::size_t> counts(edges.size());
  for (const DelaySample& sample : samples) ++counts[sample.leg];
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t leg = 0; leg < edges.size(); ++leg) {
    if (counts[leg] >= kLeastWindows) chosen.push_back(leg);
  }
  std::sort(chosen.begin(), chosen.end(), [&](std::uint32_t x, std::uint32_t y) { return counts[x] > counts[y]; });
  chosen.resize(std::min(chosen.size(), kMostLegs));

  std::vector<std::vector<Point>> legs;
  for (const std::uint32_t leg : chosen) {
    std::array<std::vector<Point>, kWindows> windows;
    for (const DelaySample& sample : samples) {
      if (sample.leg != leg) continue;
      const double time = static_cast<double>(sample.time_ns - start);
      const auto window = static_cast<std::size_t>(time / static_cast<double>(span) * kWindows);
      windows[std::min(window, kWindows - 1)].push_back({time, static_cast<double>(sample.difference_ns - base)});
    }
    std::vector<Point> points;
    for (std::vector<Point>& window : windows) {
      if (!window.empty()) points.push_back(speaker_of(window, edges[leg]));
    }
    if (points.size() >= kLeastWindows) legs.push_back(std::move(points));
  }
  std::vector<double> slopes;
  for (const std::vector<Point>& points : legs) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      for (std::size_t j = i + 1; j < points.size(); ++j) {
        slopes.push_back((points[j].difference - points[i].difference) / (points[j].time - points[i].time));
      }
    }
  }
  if (slopes.empty()) return std::nullopt;
  const double slope = median_of(slopes);
  const double scatter = scatter_around(legs, slope);
  if (std::abs(slope) > kMostDrift) return std::nullopt;
  const bool stands_out = std::abs(slope) * static_cast<double>(span) > 6 * scatter;
  if (!stands_out || scatter_around(legs, 0) < 2 * scatter) return std::nullopt;
  return slope;
}

}  // namespace roce::analyze
