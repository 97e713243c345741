// SPDX-License-Identifier: GPL-2.0-or-later

// A plugin for Wireshark that prints, on standard error, whether the statistics tree `roce` has the functions that
// Wireshark's window calls without looking whether they are there. tshark looks.

#include <epan/packet.h>
#include <wireshark.h>

// Needs the headers above in front of it.
#include <epan/stats_tree_priv.h>

#include <cstdio>

#include "plugin_entry.h"

namespace roce::plugin_test {

namespace {

int print_functions(tvbuff_t* tvb, packet_info* pinfo, proto_tree* /*tree*/, void* /*data*/) {
  const stats_tree_cfg* const tree = stats_tree_get_cfg_by_abbr("roce");
  if (pinfo->num == 1 && tree != nullptr) {
    std::fprintf(stderr, "tree: init %d packet %d\n", tree->init != nullptr, tree->packet != nullptr);
  }
  return static_cast<int>(tvb_captured_length(tvb));
}

}  // namespace

void register_protocol() {
  const int proto = proto_register_protocol("RoCE tree functions", "RoCE tree", "roce_tree_functions");
  register_postdissector(create_dissector_handle(print_functions, proto));
}

}  // namespace roce::plugin_test
