// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/ports.h"

#include "plugin/dissector.h"
#include "plugin/preferences.h"
#include "roce/wire/ethernet.h"
#include "roce/wire/udp.h"

namespace roce::plugin {

namespace {

constexpr const char* kUdpPorts = "udp.port";
constexpr const char* kEthertypes = "ethertype";
constexpr auto kRoceV1 = static_cast<guint32>(EtherType::roce_v1);
constexpr auto kMacControl = static_cast<guint32>(EtherType::mac_control);
constexpr auto kCnTag = static_cast<guint32>(EtherType::cn_tag);
constexpr auto kCnm = static_cast<guint32>(EtherType::cnm);

dissector_handle_t v1_handle = nullptr;
dissector_handle_t v2_handle = nullptr;
dissector_handle_t mac_control_handle = nullptr;
dissector_handle_t builtin_v1 = nullptr;
dissector_handle_t builtin_v2 = nullptr;
dissector_handle_t builtin_mac_control = nullptr;
wmem_list_t* taken_ports = nullptr;

/// An entry that was changed, and not to ours, is what the user asked for.
bool is_of_the_user(const char* table_name, guint32 value, dissector_handle_t ours) {
  const dissector_table_t table = find_dissector_table(table_name);
  return dissector_is_uint_changed(table, value) && dissector_get_uint_handle(table, value) != ours;
}

/// A changed entry is asked before Wireshark looks at the source port, where another protocol may be at home.
void take(const char* table, guint32 value, dissector_handle_t ours) {
  if (!is_of_the_user(table, value, ours)) dissector_change_uint(table, value, ours);
}

void give_back(const char* table_name, guint32 value, dissector_handle_t ours) {
  const dissector_table_t table = find_dissector_table(table_name);
  if (dissector_get_uint_handle(table, value) == ours) dissector_reset_uint(table_name, value);
}

void give_back_port(gpointer port, gpointer /*data*/) {
  give_back(kUdpPorts, GPOINTER_TO_UINT(port), v2_handle);
}

void take_port(guint32 port, gpointer /*data*/) {
  take(kUdpPorts, port, v2_handle);
  wmem_list_append(taken_ports, GUINT_TO_POINTER(port));
}

}  // namespace

void make_handles(int proto) {
  const auto make = [proto](dissector_t dissect, const char* name, const char* description) {
    return create_dissector_handle_with_name_and_description(dissect, proto, name, description);
  };
  v1_handle = make(dissect_v1, "roce.v1", "RoCE v1");
  v2_handle = make(dissect_v2, "roce.v2", "RoCE v2");
  mac_control_handle = make(dissect_mac_control, "roce.mac_control", "PFC and PAUSE");
  dissector_add_uint(kEthertypes, kCnTag, make(dissect_cn_tag, "roce.cn_tag", "Congestion notification tag"));
  dissector_add_uint(kEthertypes, kCnm, make(dissect_cnm, "roce.cnm", "Congestion notification message"));
  dissector_add_for_decode_as(kUdpPorts, v2_handle);
  taken_ports = wmem_list_new(wmem_epan_scope());
}

void take_ports() {
  // Only now all have registered.
  builtin_v1 = dissector_get_default_uint_handle(kEthertypes, kRoceV1);
  builtin_v2 = dissector_get_default_uint_handle(kUdpPorts, kRocePort);
  builtin_mac_control = dissector_get_default_uint_handle(kEthertypes, kMacControl);
  // A list of ports may have changed since.
  wmem_list_foreach(taken_ports, give_back_port, nullptr);
  wmem_destroy_list(taken_ports);
  taken_ports = wmem_list_new(wmem_epan_scope());
  if (preferences().dissector() == Mode::off) {
    give_back(kEthertypes, kRoceV1, v1_handle);
    give_back(kEthertypes, kMacControl, mac_control_handle);
    return;
  }
  range_foreach(preferences().ports, take_port, nullptr);
  take(kEthertypes, kRoceV1, v1_handle);
  take(kEthertypes, kMacControl, mac_control_handle);
}

int call_ethertype(guint32 ether_type, tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree) {
  return dissector_try_uint(find_dissector_table(kEthertypes), ether_type, tvb, pinfo, tree);
}

void call_builtin(RoceVersion version, tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree) {
  const dissector_handle_t handle = version == RoceVersion::v1 ? builtin_v1 : builtin_v2;
  if (handle != nullptr) call_dissector_only(handle, tvb, pinfo, tree, nullptr);
}

void call_builtin_mac_control(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree) {
  if (builtin_mac_control != nullptr) call_dissector_only(builtin_mac_control, tvb, pinfo, tree, nullptr);
}

}  // namespace roce::plugin
