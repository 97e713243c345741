// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "analyze/counters/host_counters.h"
#include "analyze/counters/host_facts.h"

namespace roce::analyze {

/// The vendors whose drivers' counter names are known.
enum class NicVendor : std::uint8_t { mlx5, rxe, irdma };

inline constexpr std::array kNicVendors{NicVendor::mlx5, NicVendor::rxe, NicVendor::irdma};

[[nodiscard]] std::string_view to_string(NicVendor vendor);

/// How a counter follows from a fact.
enum class Reading : std::uint8_t {
  same,       ///< it counts exactly this
  about,      ///< approximately: the exact meaning is not documented, or differs between cases
  at_most,    ///< it counts some of these events
  elsewhere,  ///< what it counts is not visible on the wire
};

/// One counter of a NIC, by its name in hw_counters and `rdma statistic`.
/// Sources: Linux, drivers/infiniband/hw/mlx5/counters.c, sw/rxe/rxe_hw_counters.c and the code of rxe that counts,
/// hw/irdma/verbs.c; NVIDIA's descriptions of the mlx5 counters.
struct NicCounter {
  NicVendor vendor{};
  std::string_view name;
  Reading reading{};
  HostFact fact = HostFact::count;  ///< `count` with `elsewhere`
  std::string_view note{};          ///< the difference, or why it cannot be known; may be empty
};

/// All counters, grouped by vendor, in the order of its driver.
[[nodiscard]] std::span<const NicCounter> nic_counters();
/// Returns null if the vendor does not have such a counter. `vport_NAME` of mlx5 is NAME.
[[nodiscard]] const NicCounter* find_nic_counter(NicVendor vendor, std::string_view name);
/// Returns the vendor that knows the most of these names; nothing if none knows any.
[[nodiscard]] std::optional<NicVendor> vendor_of(std::span<const std::string_view> names);

/// Returns the value that a counter should have for a host.
[[nodiscard]] Figure figure(const HostCounts& host, const NicCounter& counter);

}  // namespace roce::analyze
