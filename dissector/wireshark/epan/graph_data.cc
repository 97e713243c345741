// SPDX-License-Identifier: GPL-2.0-or-later

// `-z roce,psn`: printed when the capture has been read, as a table that plotting programs read.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>

#include "wireshark/epan/statistics.h"
#include "wireshark/epan/tap.h"
#include "wireshark/parts/psn_graph.h"

namespace roce::plugin {

namespace {

constexpr const char* kOption = "roce,psn";

void forget(void* data) {
  static_cast<PsnGraph*>(data)->clear();
}

tap_packet_status count(void* data, packet_info* /*pinfo*/, epan_dissect_t* /*edt*/, const void* tapped_data,
                        tap_flags_t /*flags*/) {
  try {
    static_cast<PsnGraph*>(data)->count(tapped(tapped_data));
    return TAP_PACKET_REDRAW;
  } catch (const std::exception&) {
    return TAP_PACKET_FAILED;
  }
}

void print(void* data) {
  const auto& graph = *static_cast<const PsnGraph*>(data);
  const std::string_view heading = PsnGraph::heading();
  std::fwrite(heading.data(), 1, heading.size(), stdout);
  try {
    for (std::size_t i = 0; i < graph.size(); ++i) {
      const std::string line = graph.line(i);
      std::fwrite(line.data(), 1, line.size(), stdout);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "roce: -z %s: not printed to its end: %s\n", kOption, error.what());
  }
}

void end(void* data) {
  const std::unique_ptr<PsnGraph> graph{static_cast<PsnGraph*>(data)};
}

/// False if there is no memory for it.
bool begin_graph(const char* argument) {
  std::string_view filter{argument};
  filter.remove_prefix(std::char_traits<char>::length(kOption));
  if (!filter.empty() && filter.front() == ',') filter.remove_prefix(1);
  std::unique_ptr<PsnGraph> graph{new (std::nothrow) PsnGraph};
  if (graph == nullptr) return false;
  GString* const error =
      register_tap_listener(kTap, graph.get(), filter.data(), TL_REQUIRES_NOTHING, forget, count, print, end);
  if (error == nullptr) {
    // Wireshark gives it back to `end`.
    static_cast<void>(graph.release());
    return true;
  }
  std::fprintf(stderr, "roce: -z %s: the filter \"%s\" cannot be used: %s\n", kOption, filter.data(), error->str);
  g_string_free(error, TRUE);
  std::exit(2);
}

// Wireshark wants to know how it went since 4.6.
template <typename Result>
Result begin(const char* argument, void* /*data*/) {
  const bool has_begun = begin_graph(argument);
  if constexpr (!std::is_void_v<Result>) return has_begun;
}

}  // namespace

void register_graph_data() {
  static stat_tap_ui ui;
  ui.group = REGISTER_PACKET_STAT_GROUP_UNSORTED;
  ui.cli_string = kOption;
  ui.tap_init_cb = begin<std::invoke_result_t<stat_tap_init_cb, const char*, void*>>;
  register_stat_tap_ui(&ui, nullptr);
}

}  // namespace roce::plugin
