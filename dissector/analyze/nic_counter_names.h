// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "analyze/host_counters.h"
#include "analyze/host_facts.h"

namespace roce::analyze {

/// Whose drivers name counters.
enum class NicVendor : std::uint8_t { mlx5, rxe, irdma };

inline constexpr std::array kNicVendors{NicVendor::mlx5, NicVendor::rxe, NicVendor::irdma};

[[nodiscard]] std::string_view to_string(NicVendor vendor);

/// How a counter follows from a fact.
enum class Reading : std::uint8_t {
  same,       ///< it counts just this
  about,      ///< as far as is known: what exactly it counts is not documented, or differs in cases
  at_most,    ///< it counts some of these
  elsewhere,  ///< what it counts is not on the wire
};

/// One counter of a NIC, by its name in hw_counters and `rdma statistic`.
/// Sources: Linux, drivers/infiniband/hw/mlx5/counters.c, sw/rxe/rxe_hw_counters.c and where rxe counts,
/// hw/irdma/verbs.c; NVIDIA's descriptions of the mlx5 counters.
struct NicCounter {
  NicVendor vendor{};
  std::string_view name;
  Reading reading{};
  HostFact fact = HostFact::count;  ///< `count` with `elsewhere`
  std::string_view note{};          ///< what differs, or why it cannot be known; may be empty
};

/// All of them, those of a vendor together in the order of its driver.
[[nodiscard]] std::span<const NicCounter> nic_counters();
/// None: the vendor has no such counter. `vport_NAME` of mlx5 is NAME.
[[nodiscard]] const NicCounter* find_nic_counter(NicVendor vendor, std::string_view name);
/// The vendor that knows the most of these names; none: nobody knows any.
[[nodiscard]] std::optional<NicVendor> vendor_of(std::span<const std::string_view> names);

/// What a counter should show for a host.
[[nodiscard]] Figure figure(const HostCounts& host, const NicCounter& counter);

}  // namespace roce::analyze
