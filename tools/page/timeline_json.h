// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "page/pyramid.h"

namespace roce::page {

/// A series of a timeline.
struct SeriesInfo {
  std::string_view name;  ///< by which the page knows its title and its unit (plot_info.ts)
  Measure measure{};
};

[[nodiscard]] std::vector<Measure> measures_of(std::span<const SeriesInfo> series);

/// Appends the series of a pyramid, which is made of `measures_of(series)`, as members of a JSON object:
/// `"window_ns":…,"levels":[…],"series":[…]`. Those from `first_optional` on are left out if they have nothing.
void append_timeline(std::string& out, Pyramid& pyramid, std::span<const SeriesInfo> series,
                     std::size_t first_optional);

}  // namespace roce::page
