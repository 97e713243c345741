// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/input/time_window.h"

#include <fmt/format.h>

namespace roce::analyze {

namespace {

/// True if `time_ns` is before the bound by at least a nanosecond.
bool is_before(std::int64_t time_ns, const packet_text::TimeBound& bound, std::int64_t start_ns) {
  std::int64_t at = bound.ns;
  // A bound beyond the range of 64 bits is later, or earlier, than all times.
  if (bound.relative && __builtin_add_overflow(bound.ns, start_ns, &at)) return bound.ns > 0;
  return time_ns < at;
}

bool is_behind(std::int64_t time_ns, const packet_text::TimeBound& bound, std::int64_t start_ns) {
  std::int64_t at = bound.ns;
  if (bound.relative && __builtin_add_overflow(bound.ns, start_ns, &at)) return bound.ns < 0;
  return time_ns > at;
}

}  // namespace

tl::expected<TimeWindow, std::string> TimeWindow::make(const std::string& from, const std::string& to) {
  TimeWindow window;
  const auto fail = [](std::string_view option, const std::string& text) {
    return tl::unexpected(
        fmt::format("{}: expected seconds since the first packet (12.5), seconds since 1970, or a time "
                    "such as 2026-11-20T23:55:31.5Z, found '{}'",
                    option, text));
  };
  if (!from.empty()) window.from_ = packet_text::parse_time(from);
  if (!to.empty()) window.to_ = packet_text::parse_time(to);
  if (!from.empty() && !window.from_) return fail("--from", from);
  if (!to.empty() && !window.to_) return fail("--to", to);
  if (window.from_ && window.to_ && window.from_->relative == window.to_->relative &&
      window.from_->ns > window.to_->ns) {
    return tl::unexpected(fmt::format("--from {} is later than --to {}: no packet lies between them", from, to));
  }
  return window;
}

bool TimeWindow::contains(std::optional<std::int64_t> time_ns, std::int64_t start_ns) const {
  return is_everything() || (time_ns && !excludes(*time_ns, *time_ns, start_ns));
}

bool TimeWindow::excludes(std::int64_t first_ns, std::int64_t last_ns, std::int64_t start_ns) const {
  return (from_ && is_before(last_ns, *from_, start_ns)) || (to_ && is_behind(first_ns, *to_, start_ns));
}

}  // namespace roce::analyze
