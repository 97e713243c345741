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
#include <epan/prefs-int.h>
#include <epan/prefs.h>
#include <epan/proto.h>
#include <epan/stat_tap_ui.h>
#include <epan/stats_tree.h>
#include <epan/tap.h>
#include <epan/uat.h>
#include <epan/unit_strings.h>
#include <wireshark.h>

#include <cstdint>
#include <type_traits>

// This one does not say itself that it is C.
extern "C" {
#include <epan/show_exception.h>
}

namespace roce::plugin {

/// What Wireshark keeps truths in and wants them as from callbacks: an `int` until 4.2, a `bool` since.
using EpanBool = std::invoke_result_t<wmem_foreach_func, const void*, void*, void*>;

/// What 4.4 wants to be told of a plugin like this one. Its header is not installed with 4.0.
constexpr std::uint32_t kPluginIsDissector = 1;

}  // namespace roce::plugin
