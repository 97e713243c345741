// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "analyze/time_text.h"

namespace roce::analyze {

/// The part of a capture that a user wants, `--from` to `--to`, both ends in it.
class TimeWindow {
 public:
  /// All of it.
  TimeWindow() = default;

  /// Bounds as `parse_time` reads them; an empty one is none. Error: which option is wrong and what it expects, or that
  /// nothing lies between them.
  [[nodiscard]] static tl::expected<TimeWindow, std::string> make(const std::string& from, const std::string& to);

  [[nodiscard]] bool is_everything() const { return !from_ && !to_; }
  /// Whether a packet is in the window. `time_ns`: since 1970; `start_ns`: the first packet of all that is looked at,
  /// from which relative bounds count. A packet without a time is only in the window of everything.
  [[nodiscard]] bool contains(std::optional<std::int64_t> time_ns, std::int64_t start_ns) const;
  /// Whether all packets of a piece with these first and last times are outside, so that it need not be read.
  [[nodiscard]] bool excludes(std::int64_t first_ns, std::int64_t last_ns, std::int64_t start_ns) const;

 private:
  std::optional<TimeBound> from_;
  std::optional<TimeBound> to_;
};

}  // namespace roce::analyze
