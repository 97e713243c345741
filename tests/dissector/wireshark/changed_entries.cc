// SPDX-License-Identifier: GPL-2.0-or-later

// A plugin for Wireshark that prints, on standard error when a capture is closed, which entries of dissector tables
// differ from their defaults: those that "Decode As" shows and saves. Without it only that dialog shows them.

#include <epan/packet.h>
#include <wireshark.h>

#include <cstdio>

#include "plugin_entry.h"

namespace roce::plugin_test {

namespace {

void print_entry(const gchar* table, ftenum_t /*type*/, gpointer key, gpointer entry, gpointer /*data*/) {
  auto* const handle = dtbl_entry_get_handle(static_cast<dtbl_entry_t*>(entry));
  const char* const name = handle != nullptr ? dissector_handle_get_dissector_name(handle) : "none";
  std::fprintf(stderr, "changed: %s %u %s\n", table, GPOINTER_TO_UINT(key), name != nullptr ? name : "unnamed");
}

void print_changed() {
  dissector_all_tables_foreach_changed(print_entry, nullptr);
}

}  // namespace

void register_protocol() {
  register_cleanup_routine(print_changed);
}

}  // namespace roce::plugin_test
