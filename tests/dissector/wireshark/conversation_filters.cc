// SPDX-License-Identifier: GPL-2.0-or-later

// A plugin for Wireshark that prints, on standard error, the filters of `roce` that "Conversation Filter" and "Colorize
// Conversation" offer for each frame. Without it only those menus show them.

#include <epan/packet.h>
#include <wireshark.h>

// Needs the headers above in front of it.
#include <epan/conversation_filter.h>

#include <cstdio>
#include <cstring>
#include <type_traits>

#include "plugin_entry.h"

namespace roce::plugin_test {

namespace {

template <typename Filter>
void print_filter(const Filter& filter, packet_info* pinfo) {
  char* text = nullptr;
  if constexpr (std::is_invocable_v<is_filter_valid_func, packet_info*>) {
    if (filter.is_filter_valid(pinfo)) text = filter.build_filter_string(pinfo);
  } else {
    if (filter.is_filter_valid(pinfo, filter.user_data)) text = filter.build_filter_string(pinfo, filter.user_data);
  }
  if (text == nullptr) return;
  std::fprintf(stderr, "filter: %u %s: %s\n", pinfo->num, filter.display_name, text);
  g_free(text);
}

int print_filters(tvbuff_t* tvb, packet_info* pinfo, proto_tree* /*tree*/, void* /*data*/) {
  for (GList* link = packet_conv_filter_list; link != nullptr; link = link->next) {
    const auto& filter = *static_cast<const conversation_filter_t*>(link->data);
    if (std::strcmp(filter.proto_name, "roce") == 0) print_filter(filter, pinfo);
  }
  return static_cast<int>(tvb_captured_length(tvb));
}

}  // namespace

void register_protocol() {
  const int proto = proto_register_protocol("RoCE conversation filters", "RoCE filters", "roce_filters");
  register_postdissector(create_dissector_handle(print_filters, proto));
}

}  // namespace roce::plugin_test
