// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "conform/language/case.h"
#include "conform/target/target.h"

namespace roce::conform {

/// The attributes of a QP in a case: those of the device's QP, and its receives.
struct QpAttributesRead {
  QpSetup setup{};
  std::uint64_t receives = 4;
  std::uint64_t receive_length = 4096;  ///< bytes
};

/// Reads the attributes of a QP over those that `attributes` has. Errors: unknown names, values out of range.
[[nodiscard]] CaseResult<void> read_attributes(QpAttributesRead& attributes, const std::vector<Setting>& settings,
                                               const Scope& scope);
/// Reads the attributes of a region.
[[nodiscard]] CaseResult<RegionSetup> read_region(const std::vector<Setting>& settings, const Scope& scope);
/// Reads the attributes of a window.
[[nodiscard]] CaseResult<WindowSetup> read_window(const std::vector<Setting>& settings, const Scope& scope);
/// The arguments of a `bind`, with the window and the region by name.
struct BindArguments {
  BindOrder order{};
  std::string window;
  std::string region = "R";
};
[[nodiscard]] CaseResult<BindArguments> read_bind(const std::vector<Setting>& settings, const Scope& scope);
/// Reads what a `modify` changes.
[[nodiscard]] CaseResult<transport::QpChange> read_change(const std::vector<Setting>& settings, const Scope& scope);
/// Reads the request that a `post_send` posts, or where a `post_receive` has its buffer, over what `order` has.
[[nodiscard]] CaseResult<void> read_order(SendOrder& order, const std::vector<Setting>& settings, const Scope& scope);

/// All rights that a peer can have.
[[nodiscard]] transport::Access all_rights();

}  // namespace roce::conform
