// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <variant>

#include "roce/congestion/control.h"
#include "roce/congestion/dcqcn.h"
#include "roce/congestion/dcqcn_mlx5.h"
#include "roce/congestion/rtt.h"

namespace roce::congestion {

/// A constant rate, whatever the network says.
struct FixedParameters {
  std::uint64_t rate_bps = 0;     ///< above 0
  std::uint32_t burst_bytes = 0;  ///< see `Output`
};

/// A controller by its name, with its parameters; `std::monostate`: none.
using Choice = std::variant<std::monostate, FixedParameters, DcqcnParameters, Mlx5Parameters, RttParameters>;

/// Reads a controller: `none`, `fixed`, `dcqcn`, `dcqcn_mlx5` or `rtt`, with its parameters behind it, separated by
/// commas or newlines: `dcqcn,g=0.01,rate_timer=100us`. Rates are like 2.5Gbit, times like 55us, the rest are numbers.
/// Those of `dcqcn_mlx5` may be as mlxconfig prints them (`RPG_GD_P1  11`), as grep prints them from sysfs
/// (`…/roce_rp/rpg_gd:11`), and with the names of debugfs (`rp_gd=11`). Error: one line that says what is wrong where.
[[nodiscard]] tl::expected<Choice, std::string> parse_choice(std::string_view text);

/// Returns the name by which a choice is read.
[[nodiscard]] std::string_view name_of(const Choice& choice);

/// Makes the controller; null for none.
[[nodiscard]] std::unique_ptr<CongestionControl> make_control(const Choice& choice);

}  // namespace roce::congestion
