// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "wireshark/epan/epan.h"
#include "wireshark/parts/qp_entry.h"

namespace roce::plugin {

/// Adds the table of QPs to the preferences: it has the protocols of QPs that were connected before the capture began.
void register_qp_table(module_t* preferences);
/// Returns the lines of the table.
[[nodiscard]] const QpEntries& qp_table();
/// The dissector that a line of the table names: one that Wireshark offers for the payload of InfiniBand, by its
/// protocol's name, or any other, by its own name. The handle is null if there is none with this name.
struct NamedDissector {
  dissector_handle_t handle = nullptr;
  bool takes_infiniband_info = false;
};
[[nodiscard]] NamedDissector find_named_dissector(const char* name);

}  // namespace roce::plugin
