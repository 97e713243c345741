// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "packet_text/time_text.h"

namespace roce::analyze {

/// The part of a capture that a user wants, from `--from` to `--to`, inclusive.
class TimeWindow {
 public:
  /// Constructs a window that contains everything.
  TimeWindow() = default;

  /// Parses bounds as `parse_time` does; an empty text is not a bound. Error: the wrong option and what it expects, or
  /// that the window is empty.
  [[nodiscard]] static tl::expected<TimeWindow, std::string> make(const std::string& from, const std::string& to);

  [[nodiscard]] bool is_everything() const { return !from_ && !to_; }
  /// True if a packet is in the window. `time_ns`: since 1970; `start_ns`: the time of the very first packet of the
  /// input, from which relative bounds count. A packet without a time is only in the window that contains everything.
  [[nodiscard]] bool contains(std::optional<std::int64_t> time_ns, std::int64_t start_ns) const;
  /// True if all packets of a part with these first and last times are outside, so that it need not be read.
  [[nodiscard]] bool excludes(std::int64_t first_ns, std::int64_t last_ns, std::int64_t start_ns) const;

 private:
  std::optional<packet_text::TimeBound> from_;
  std::optional<packet_text::TimeBound> to_;
};

}  // namespace roce::analyze
