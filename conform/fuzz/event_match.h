// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <vector>

#include "conform/fuzz/expectation.h"

namespace roce::conform::fuzz {

/// The first event of a QP that is not as it has to be.
struct EventMismatch {
  std::optional<transport::EventType> expected{};  ///< empty: none, the one that was seen is too many
  std::optional<transport::EventType> seen{};      ///< empty: none
};

/// Compares the events that a device has reported with those that are awaited, in their order, of which some need not
/// come. Returns nothing if there is a way in which they fit.
[[nodiscard]] std::optional<EventMismatch> find_mismatch(const std::vector<AwaitedEvent>& awaited,
                                                         const std::vector<transport::EventType>& seen);

}  // namespace roce::conform::fuzz
