// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

// Everything of Wireshark that the plugin uses. Only sources under Wireshark's licence include this header.
//
// Wireshark reports an access out of bounds by a jump out of the dissector, past all destructors. In these sources, no
// local with a destructor is alive during a call of epan, and no exception leaves them.

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

// This header does not declare itself as C.
extern "C" {
#include <epan/show_exception.h>
}

namespace roce::plugin {

/// Wireshark's type for truth values, which it also expects from callbacks: an `int` until 4.2, a `bool` since.
using EpanBool = std::invoke_result_t<wmem_foreach_func, const void*, void*, void*>;

/// The type of plugin that Wireshark 4.4 asks for. The header with the constant is not installed with 4.0.
constexpr std::uint32_t kPluginIsDissector = 1;

/// Hands `payload` to the dissector that `table` names for it ("Decode As"), with its name in the tree, and returns the
/// bytes that it took. Wireshark 4.6 has another name for the function; it is found by the types of the arguments.
template <typename Table, typename Tvb>
int call_from_table(Table table, Tvb payload, packet_info* pinfo, proto_tree* tree, void* data) {
  if constexpr (requires { dissector_try_payload_with_data(table, payload, pinfo, tree, true, data); }) {
    return dissector_try_payload_with_data(table, payload, pinfo, tree, true, data);
  } else {
    return dissector_try_payload_new(table, payload, pinfo, tree, true, data);
  }
}

}  // namespace roce::plugin
