// SPDX-License-Identifier: GPL-2.0-or-later
#include "wireshark/epan/qp_table.h"

#include <algorithm>
#include <exception>
#include <string>
#include <type_traits>

namespace roce::plugin {

namespace {

/// A line of the table as Wireshark edits it.
struct Line {
  char* address;
  char* qpn;
  char* protocol;
  char* service;
  char* queue;
  guint side;
};

constexpr guint kServer = 0;
constexpr guint kClient = 1;
const value_string kSides[] = {{kServer, "server"}, {kClient, "client"}, {0, nullptr}};

Line* lines = nullptr;
guint line_count = 0;
QpEntries entries;

UAT_CSTRING_CB_DEF(qps, address, Line)
UAT_CSTRING_CB_DEF(qps, qpn, Line)
UAT_CSTRING_CB_DEF(qps, protocol, Line)
UAT_CSTRING_CB_DEF(qps, service, Line)
UAT_CSTRING_CB_DEF(qps, queue, Line)
UAT_VS_DEF(qps, side, Line, guint, kServer, "server")

QpEntryText text_of(const Line& line) {
  return {.address = line.address,
          .qpn = line.qpn,
          .protocol = line.protocol,
          .service = line.service,
          .queue = line.queue,
          .is_client = line.side == kClient};
}

void* copy_line(void* to, const void* from, size_t /*size*/) {
  const Line& source = *static_cast<const Line*>(from);
  Line& copy = *static_cast<Line*>(to);
  copy = {.address = g_strdup(source.address),
          .qpn = g_strdup(source.qpn),
          .protocol = g_strdup(source.protocol),
          .service = g_strdup(source.service),
          .queue = g_strdup(source.queue),
          .side = source.side};
  return to;
}

void free_line(void* record) {
  const Line& line = *static_cast<Line*>(record);
  for (char* const text : {line.address, line.qpn, line.protocol, line.service, line.queue}) g_free(text);
}

char* reason_why_wrong(const Line& line) noexcept {
  try {
    const auto entry = parse_qp_entry(text_of(line));
    if (!entry) return g_strdup(entry.error().c_str());
    if (entry->dissector.empty() || find_named_dissector(entry->dissector.c_str()).handle != nullptr) return nullptr;
    const std::string text = "Protocol is \"" + entry->dissector +
                             "\": write nvme, iser or the name of a dissector, such as smb_direct, rpcordma or smc.";
    return g_strdup(text.c_str());
  } catch (const std::exception&) {
    return g_strdup("There is no memory for this line.");
  }
}

std::invoke_result_t<uat_update_cb_t, void*, char**> check_line(void* record, char** error) {
  *error = reason_why_wrong(*static_cast<Line*>(record));
  return *error == nullptr;
}

void take_lines() {
  entries.clear();
  std::for_each_n(lines, line_count, [](const Line& line) { entries.add(text_of(line)); });
}

void forget_lines() {
  entries.clear();
}

struct Search {
  const char* name;
  dissector_handle_t found;
};

void compare_name(const gchar* /*table*/, gpointer handle, gpointer data) {
  Search& search = *static_cast<Search*>(data);
  auto* const candidate = static_cast<dissector_handle_t>(handle);
  const int proto = dissector_handle_get_protocol_index(candidate);
  if (search.found != nullptr || proto < 0) return;
  if (g_strcmp0(proto_get_protocol_filter_name(proto), search.name) == 0) search.found = candidate;
}

}  // namespace

NamedDissector find_named_dissector(const char* name) {
  Search search{name, nullptr};
  if (find_dissector_table("infiniband") != nullptr)
    dissector_table_foreach_handle("infiniband", compare_name, &search);
  if (search.found != nullptr) return {search.found, true};
  return {find_dissector(name), false};
}

const QpEntries& qp_table() {
  return entries;
}

void register_qp_table(module_t* preferences) {
  static uat_field_t fields[] = {
      UAT_FLD_CSTRING(qps, address, "Address", "IPv4 or IPv6 address (RoCE v1: GID) of the QP's host"),
      UAT_FLD_CSTRING(qps, qpn, "QP number", "Decimal, or hexadecimal with 0x"),
      UAT_FLD_VS(qps, side, "Side", kSides, "Whose QP it is: the server's (target, controller) or the client's"),
      UAT_FLD_CSTRING(qps, protocol, "Protocol", "nvme, iser or the name of a dissector, such as smb_direct"),
      UAT_FLD_CSTRING(qps, service, "Service",
                      "Of nvme and iser: TCP port or (with 0x) service ID; empty for the usual port"),
      UAT_FLD_CSTRING(qps, queue, "Queue", "Of nvme: number of the queue, 0 for the admin queue; empty for 1"),
      UAT_END_FIELDS};
  uat_t* const table =
      uat_new("RoCE queue pairs", sizeof(Line), "roce_qps", TRUE, &lines, &line_count, UAT_AFFECTS_DISSECTION, nullptr,
              copy_line, check_line, free_line, take_lines, forget_lines, fields);
  prefs_register_uat_preference(preferences, "qps", "Queue pairs",
                                "What the QPs carry whose connections were set up before the capture began, so that "
                                "NVMe and iSER are recognised on them",
                                table);
}

}  // namespace roce::plugin
