// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "roce/congestion/control.h"

namespace roce::congestion {

/// DCQCN as NVIDIA documents it for ConnectX ("DCQCN CC Parameters" of the DOCA documentation), by the names of
/// mlxconfig and of /sys/class/net/*/ecn/roce_rp, with their units and usual defaults. The firmware is not published:
/// this follows the description, and is not known to be what a card does.
struct Mlx5Parameters {
  std::uint32_t dce_tcp_g = 1019;                ///< weight of the old alpha, of 1024
  std::uint32_t dce_tcp_rtt = 1;                 ///< us between two updates of alpha, with a CNP or without
  std::uint32_t initial_alpha_value = 1023;      ///< of 1024
  std::uint32_t rate_to_set_on_first_cnp = 0;    ///< Mbit/s; 0: the first CNP only cuts
  std::uint32_t rate_reduce_monitor_period = 4;  ///< us; CNPs inside one period cut once; 0: each cuts
  std::uint32_t rpg_gd = 11;                     ///< a cut is alpha / 2^(gd - 10) of the rate
  std::uint32_t rpg_min_dec_fac = 50;            ///< percent of the rate that a cut leaves at least
  std::uint32_t rpg_min_rate = 1;                ///< Mbit/s
  std::uint32_t rpg_max_rate = 0;                ///< Mbit/s; 0: that of the line
  std::uint32_t rpg_time_reset = 300;            ///< us between two increases
  std::uint32_t rpg_byte_reset = 32767;          ///< units between two increases; see `byte_reset_unit`
  std::uint32_t rpg_threshold = 1;               ///< increases of fast recovery
  std::uint32_t rpg_ai_rate = 5;                 ///< Mbit/s
  std::uint32_t rpg_hai_rate = 50;               ///< Mbit/s
  bool clamp_tgt_rate = false;                   ///< each cut lowers the target to the rate before it
  bool clamp_tgt_rate_after_time_inc = true;     ///< … if time has raised the rate since the last cut
  // The notification point has these, one set a device; unset, it keeps what it has.
  std::optional<std::uint32_t> min_time_between_cnps{};  ///< us
  std::optional<std::uint32_t> cnp_dscp{};
  std::optional<std::uint32_t> cnp_802p_prio{};
  // Ours.
  std::uint32_t byte_reset_unit =
      0;                          ///< bytes in a unit of `rpg_byte_reset`, which is not documented; 0: only time counts
  std::uint32_t burst_bytes = 0;  ///< see `Output`
};

[[nodiscard]] std::unique_ptr<CongestionControl> make_dcqcn_mlx5(const Mlx5Parameters& parameters);

}  // namespace roce::congestion
