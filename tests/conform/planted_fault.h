// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace roce::conform {

/// A fault that this program's endpoint can have (faults.inc of transport, cm and port).
struct FaultName {
  std::string_view name;
  std::string_view sentence;
};
/// Returns all faults, in the order of the table.
[[nodiscard]] std::span<const FaultName> fault_names();

/// Plants a fault in the devices of this thread, and takes out the one that was there; empty: the endpoint is right.
void plant(std::optional<std::size_t> fault);

}  // namespace roce::conform
