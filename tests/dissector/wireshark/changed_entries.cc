// SPDX-License-Identifier: GPL-2.0-or-later

// A plugin for Wireshark that prints, on standard error when a capture is closed, which entries of dissector tables
// differ from their defaults: those that "Decode As" shows and saves. Without it only that dialog shows them.

#include <epan/packet.h>
#include <wireshark.h>

#include <cstdint>
#include <cstdio>

namespace {

void print_entry(const gchar* table, ftenum_t /*type*/, gpointer key, gpointer entry, gpointer /*data*/) {
  auto* const handle = dtbl_entry_get_handle(static_cast<dtbl_entry_t*>(entry));
  const char* const name = handle != nullptr ? dissector_handle_get_dissector_name(handle) : "none";
  std::fprintf(stderr, "changed: %s %u %s\n", table, GPOINTER_TO_UINT(key), name != nullptr ? name : "unnamed");
}

void print_changed() {
  dissector_all_tables_foreach_changed(print_entry, nullptr);
}

void register_protocol() {
  register_cleanup_routine(print_changed);
}

}  // namespace

extern "C" {

// Declared first: a constant definition alone would not be visible outside.
WS_DLL_PUBLIC const gchar plugin_version[];
WS_DLL_PUBLIC const int plugin_want_major;
WS_DLL_PUBLIC const int plugin_want_minor;
WS_DLL_PUBLIC void plugin_register();
WS_DLL_PUBLIC std::uint32_t plugin_describe();

const gchar plugin_version[] = "1";
const int plugin_want_major = ROCE_WIRESHARK_MAJOR;
const int plugin_want_minor = ROCE_WIRESHARK_MINOR;

void plugin_register() {
  static proto_plugin plugin;
  plugin.register_protoinfo = register_protocol;
  proto_register_plugin(&plugin);
}

std::uint32_t plugin_describe() {
  return 1;
}

}  // extern "C"
