// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <tuple>

#include "analyze/report/time_bins.h"
#include "roce/analysis/tracker.h"
#include "roce/wire/types.h"

namespace roce::analyze {

/// Counts by interval, and stream or station. At most `kOpen` of them are held: after that those of the earliest
/// interval leave, so that what is counted later for one that has left becomes a second one.
class IntervalCells {
 public:
  struct Key {
    std::int64_t time_ns = 0;  ///< begin of the interval
    std::uint16_t point = 0;
    std::uint32_t stream = analysis::kNoStream;
    MacAddress station{};

    friend auto operator<=>(const Key&, const Key&) = default;
  };
  using Use = std::function<void(const Key&, const TimeBin&)>;

  IntervalCells(std::int64_t width_ns, Use use) : width_ns_(width_ns), use_(std::move(use)) {}

  /// Returns the counts of the interval that holds `key.time_ns`; valid until the next call.
  [[nodiscard]] TimeBin& at(Key key);
  /// Hands over all that are left, by time.
  void finish();

  [[nodiscard]] std::int64_t width_ns() const { return width_ns_; }

 private:
  static constexpr std::size_t kOpen = 1U << 16U;

  void release_earliest();

  std::int64_t width_ns_;
  Use use_;
  std::map<Key, TimeBin> cells_;
  Key last_key_{};
  TimeBin* last_ = nullptr;  ///< of `last_key_`
};

}  // namespace roce::analyze
