// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace roce::plugin_test {

/// Registers what a plugin of the tests has; its own source defines it, `plugin_entry.cc` hands it to Wireshark.
void register_protocol();

}  // namespace roce::plugin_test
