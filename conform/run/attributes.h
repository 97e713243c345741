// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "conform/language/case.h"
#include "conform/target/cm_service.h"
#include "conform/target/target.h"

namespace roce::conform {

/// The receives that are posted before a case.
struct ReceivesRead {
  std::uint64_t count = 4;
  std::uint64_t length = 4096;  ///< bytes of each
};

/// The attributes of a QP in a case: those of the device's QP, its receives, and the SRQ that it has instead.
struct QpAttributesRead {
  QpSetup setup{};
  ReceivesRead receives{};
  std::string srq{};  ///< empty: none
};

/// The attributes of an SRQ in a case.
struct SrqAttributesRead {
  ReceivesRead receives{};
  std::uint32_t limit = 0;  ///< 0: not armed
};

/// Reads the attributes of a QP over those that `attributes` has. Errors: unknown names, values out of range.
[[nodiscard]] CaseResult<void> read_attributes(QpAttributesRead& attributes, const std::vector<Setting>& settings,
                                               const Scope& scope);
/// Reads the attributes of an SRQ.
[[nodiscard]] CaseResult<SrqAttributesRead> read_srq(const std::vector<Setting>& settings, const Scope& scope);
/// Reads the limit that an `arm` sets.
[[nodiscard]] CaseResult<std::uint32_t> read_limit(const std::vector<Setting>& settings, const Scope& scope);
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

/// The attributes of a listener in a case, with its QPs by name.
struct ListenerRead {
  CmTerms terms{};
  std::vector<std::string> qps{kDefaultQp};
  bool answers = true;
};
[[nodiscard]] CaseResult<ListenerRead> read_listener(const std::vector<Setting>& settings, const Scope& scope);
/// Reads the arguments of a verb of the communication manager over those that `terms` has.
[[nodiscard]] CaseResult<void> read_terms(CmTerms& terms, const std::vector<Setting>& settings, const Scope& scope);
/// A receive of one piece or of several, which lie in one region.
struct ReceiveOrder {
  std::uint64_t wr_id = 0;
  std::vector<transport::Sge> pieces{};
};
/// Reads where a `post_receive` has its pieces; `whole` is the buffer without arguments.
[[nodiscard]] CaseResult<ReceiveOrder> read_receive(const transport::Sge& whole, const std::vector<Setting>& settings,
                                                    const Scope& scope);
/// Reads which completion queue of a QP is armed, and for which completions.
[[nodiscard]] CaseResult<CqArming> read_arming(const std::vector<Setting>& settings, const Scope& scope);
/// Reads the PSNs of a `reconnect` into the setup of a QP.
[[nodiscard]] CaseResult<void> read_reconnect(QpSetup& setup, const std::vector<Setting>& settings, const Scope& scope);

/// All rights that a peer can have.
[[nodiscard]] transport::Access all_rights();

}  // namespace roce::conform
