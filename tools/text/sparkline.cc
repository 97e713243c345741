// SPDX-License-Identifier: BSD-2-Clause
#include "text/sparkline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

namespace roce::text {

namespace {

constexpr std::size_t kLevels = 8;
constexpr std::array<std::string_view, kLevels> kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, kLevels> kSigns{"_", ".", ":", "-", "=", "+", "*", "#"};

/// Returns the mean of the values that are numbers; NaN if there are none.
double mean(std::span<const double> values) {
  double sum = 0;
  std::size_t count = 0;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    sum += value;
    ++count;
  }
  return count == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(count);
}

std::vector<double> condensed(std::span<const double> values, std::size_t width) {
  if (values.size() <= width) return {values.begin(), values.end()};
  std::vector<double> means;
  for (std::size_t i = 0; i < width; ++i) {
    const std::size_t first = values.size() * i / width;
    const std::size_t last = values.size() * (i + 1) / width;
    means.push_back(mean(values.subspan(first, last - first)));
  }
  return means;
}

/// Returns the largest finite value, 0 if none is positive.
double largest(std::span<const double> values) {
  double top = 0;
  for (const double value : values) {
    if (std::isfinite(value)) top = std::max(top, value);
  }
  return top;
}

std::size_t level(double value, double top) {
  if (value <= 0) return 0;
  if (value >= top) return kLevels - 1;
  constexpr auto kAboveZero = static_cast<double>(kLevels - 1);
  return static_cast<std::size_t>(std::clamp(std::ceil(value / top * kAboveZero), 1.0, kAboveZero));
}

}  // namespace

std::string sparkline(std::span<const double> values, std::size_t width, Charset charset) {
  const std::vector<double> means = condensed(values, width);
  const double top = largest(means);
  const auto& signs = charset == Charset::utf8 ? kBlocks : kSigns;
  std::string line;
  for (const double value : means) line += std::isnan(value) ? " " : signs[level(value, top)];
  return line;
}

}  // namespace roce::text
