// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "plugin/epan.h"
#include "plugin/qp_entry.h"

namespace roce::plugin {

/// Adds the table of QPs to the preferences: what the QPs carry whose connections were set up before the capture began.
void register_qp_table(module_t* preferences);
/// The lines of the table.
[[nodiscard]] const QpEntries& qp_table();
/// The dissector that a line of the table names: one that Wireshark offers for the payload of InfiniBand by the name of
/// its protocol, or any by its own name. Null: there is none of this name.
struct NamedDissector {
  dissector_handle_t handle = nullptr;
  bool takes_infiniband_info = false;
};
[[nodiscard]] NamedDissector find_named_dissector(const char* name);

}  // namespace roce::plugin
