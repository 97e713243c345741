// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace roce::analyze {

/// A counter as a NIC showed it.
struct NicValue {
  std::string name;
  std::uint64_t value = 0;

  friend bool operator==(const NicValue&, const NicValue&) = default;
};

/// The counters of one port of a NIC at one time, in the order of the file.
struct NicStatistics {
  std::string link;  ///< `mlx5_0/1`, or the folder; empty where the file does not say
  std::vector<NicValue> counters;

  /// Null: it has none of this name.
  [[nodiscard]] const NicValue* find(std::string_view name) const;
};

/// Reads what `rdma -j statistic` writes (an array of objects, one a link), or lines `NAME VALUE`, `NAME: VALUE`,
/// `NAME=VALUE`, `PATH/NAME:VALUE` as `grep . hw_counters/*` writes them. Names may hold spaces; empty lines and lines
/// that begin with `#` are passed over; `lifespan` is a setting and no counter. `source` names the text in errors,
/// which say what is wrong where.
[[nodiscard]] tl::expected<NicStatistics, std::string> parse_nic_statistics(std::string_view text,
                                                                            std::string_view source);
/// The same for a file. Error: also why it cannot be read.
[[nodiscard]] tl::expected<NicStatistics, std::string> load_nic_statistics(const std::string& path);

}  // namespace roce::analyze
