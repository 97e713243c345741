// SPDX-License-Identifier: GPL-2.0-or-later
#include "wireshark/epan/preferences.h"

#include <array>

#include "wireshark/epan/qp_table.h"

namespace roce::plugin {

namespace {

Preferences current;

const std::array<enum_val_t, 4> kModes{
    {{"own", "This plugin", static_cast<gint>(Mode::own)},
     {"wrap", "The built-in dissector, and the analysis of this plugin", static_cast<gint>(Mode::wrap)},
     {"off", "The built-in dissector alone", static_cast<gint>(Mode::off)},
     {nullptr, nullptr, 0}}};

}  // namespace

void register_preferences(int proto, void (*changed)()) {
  module_t* const module = prefs_register_protocol(proto, changed);
  range_convert_str(wmem_epan_scope(), &current.ports, "4791", 65535);
  prefs_register_enum_preference(module, "mode", "Dissected by",
                                 "Who dissects RoCE. The built-in dissector has other fields (infiniband.*); with the "
                                 "second choice filters on them keep working.",
                                 &current.mode, kModes.data(), FALSE);
  prefs_register_range_preference(module, "udp.ports", "UDP ports", "UDP destination ports of RoCE v2", &current.ports,
                                  65535);
  prefs_register_bool_preference(module, "check_icrc", "Check the ICRC",
                                 "Check the invariant CRC of each packet. Packets that the kernel or the RNIC handed "
                                 "over as one frame are only told apart by it.",
                                 &current.check_icrc);
  prefs_register_bool_preference(module, "analysis", "Analyse connections",
                                 "Find retransmissions, losses, NAKs and latencies", &current.analyse);
  prefs_register_bool_preference(module, "reassemble", "Reassemble messages",
                                 "Put the packets of a SEND together before its payload goes to the dissector of the "
                                 "upper protocol. Needs the analysis of connections.",
                                 &current.reassemble);
  prefs_register_bool_preference(module, "marks", "Verdicts in the Info column",
                                 "Begin the Info column with what was found about the packet", &current.marks);
  prefs_register_uint_preference(module, "link_speed", "Link speed in Gbit/s",
                                 "Of the captured links, for the times of PFC and PAUSE; 0: unknown", 10,
                                 &current.link_gbits);
  register_qp_table(module);
}

const Preferences& preferences() {
  return current;
}

}  // namespace roce::plugin
