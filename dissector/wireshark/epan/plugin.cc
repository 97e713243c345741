// SPDX-License-Identifier: GPL-2.0-or-later

// The symbols that Wireshark looks for in a plugin.

#include <cstdint>

#include "wireshark/epan/dissector.h"
#include "wireshark/epan/epan.h"
#include "wireshark/epan/fields.h"
#include "wireshark/epan/follow.h"
#include "wireshark/epan/ports.h"
#include "wireshark/epan/preferences.h"
#include "wireshark/epan/statistics.h"
#include "wireshark/epan/tap.h"

namespace {

void register_protocol() {
  roce::plugin::register_fields();
  const int proto = roce::plugin::fields().proto;
  roce::plugin::register_preferences(proto, roce::plugin::take_ports);
  roce::plugin::register_taps();
  roce::plugin::register_operation_tree();
  roce::plugin::register_conversations(proto);
  roce::plugin::register_tables();
  roce::plugin::register_graph_data();
  roce::plugin::register_follow(proto);
  register_init_routine(roce::plugin::begin_capture);
  register_cleanup_routine(roce::plugin::end_capture);
  register_postseq_cleanup_routine(roce::plugin::finish_first_pass);
}

void hand_off() {
  roce::plugin::make_handles(roce::plugin::fields().proto);
}

}  // namespace

extern "C" {

// Declared first: a constant that is only defined would not be visible outside.
WS_DLL_PUBLIC const gchar plugin_version[];
WS_DLL_PUBLIC const int plugin_want_major;
WS_DLL_PUBLIC const int plugin_want_minor;
WS_DLL_PUBLIC void plugin_register();
WS_DLL_PUBLIC std::uint32_t plugin_describe();

const gchar plugin_version[] = ROCE_VERSION;
const int plugin_want_major = ROCE_WIRESHARK_MAJOR;
const int plugin_want_minor = ROCE_WIRESHARK_MINOR;

void plugin_register() {
  static proto_plugin plugin;
  plugin.register_protoinfo = register_protocol;
  plugin.register_handoff = hand_off;
  proto_register_plugin(&plugin);
}

// Serves the list of plugins; before 4.4, Wireshark finds the type out by itself.
std::uint32_t plugin_describe() {
  return roce::plugin::kPluginIsDissector;
}

}  // extern "C"
