// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace roce::analyze {

/// A counter and its value as shown by a NIC.
struct NicValue {
  std::string name;
  std::uint64_t value = 0;

  friend bool operator==(const NicValue&, const NicValue&) = default;
};

/// The counters of one port of a NIC at one time, in the order of the file.
struct NicStatistics {
  std::string link;  ///< `mlx5_0/1`, or the folder; empty if the file does not tell
  std::vector<NicValue> counters;

  /// Returns null if there is no counter with this name.
  [[nodiscard]] const NicValue* find(std::string_view name) const;
};

/// Parses the output of `rdma -j statistic` (an array of objects, one per link), or lines `NAME VALUE`, `NAME: VALUE`,
/// `NAME=VALUE`, `PATH/NAME:VALUE` as `grep . hw_counters/*` prints them. Names may contain spaces; empty lines and
/// lines that begin with `#` are ignored, and so is `lifespan`, which is a setting, not a counter. `source` names the
/// text in errors, which state the problem and its place.
[[nodiscard]] tl::expected<NicStatistics, std::string> parse_nic_statistics(std::string_view text,
                                                                            std::string_view source);
/// Reads a file and parses it. Error: also the reason why it cannot be read.
[[nodiscard]] tl::expected<NicStatistics, std::string> load_nic_statistics(const std::string& path);

}  // namespace roce::analyze
