// SPDX-License-Identifier: GPL-2.0-or-later
// The symbols that Wireshark looks for in a plugin.
#include "plugin_entry.h"

#include <epan/packet.h>
#include <wireshark.h>

#include <cstdint>

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
  plugin.register_protoinfo = roce::plugin_test::register_protocol;
  proto_register_plugin(&plugin);
}

std::uint32_t plugin_describe() {
  return 1;
}

}  // extern "C"
