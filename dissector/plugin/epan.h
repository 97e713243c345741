// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

// Everything of Wireshark that the plugin uses. Only the sources under its licence include this.
//
// Wireshark reports an access out of bounds by a jump out of the dissector, over all destructors. In these sources no
// local that has one lives across a call of epan, and no exception leaves them.

#include <epan/addr_resolv.h>
#include <epan/address_types.h>
#include <epan/conversation.h>
#include <epan/conversation_table.h>
#include <epan/dissectors/packet-infiniband.h>
#include <epan/exceptions.h>
#include <epan/expert.h>
#include <epan/packet.h>
#include <epan/prefs.h>
#include <epan/proto.h>
#include <epan/stat_tap_ui.h>
#include <epan/stats_tree.h>
#include <epan/tap.h>
#include <epan/uat.h>
#include <epan/unit_strings.h>
#include <wireshark.h>

// This one does not say itself that it is C.
extern "C" {
#include <epan/show_exception.h>
}
