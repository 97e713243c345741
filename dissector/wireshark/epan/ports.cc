// SPDX-License-Identifier: GPL-2.0-or-later
#include "wireshark/epan/ports.h"

#include <vector>

#include "roce/wire/ethernet.h"
#include "roce/wire/ipv4.h"
#include "roce/wire/udp.h"
#include "wireshark/epan/dissector.h"
#include "wireshark/epan/preferences.h"

namespace roce::plugin {

namespace {

constexpr const char* kUdpPorts = "udp.port";
constexpr const char* kEthertypes = "ethertype";
constexpr const char* kIpProtocols = "ip.proto";
constexpr auto kRoceV1 = static_cast<guint32>(EtherType::roce_v1);
constexpr auto kMacControl = static_cast<guint32>(EtherType::mac_control);
constexpr auto kCnTag = static_cast<guint32>(EtherType::cn_tag);
constexpr auto kCnm = static_cast<guint32>(EtherType::cnm);
constexpr auto kUdp = static_cast<guint32>(IpProtocol::udp);

dissector_handle_t v1_handle = nullptr;
dissector_handle_t v2_handle = nullptr;
dissector_handle_t mac_control_handle = nullptr;
dissector_handle_t cn_tag_handle = nullptr;
dissector_handle_t cnm_handle = nullptr;
dissector_handle_t udp_handle = nullptr;
dissector_handle_t builtin_v1 = nullptr;
dissector_handle_t builtin_v2 = nullptr;
dissector_handle_t builtin_mac_control = nullptr;
dissector_handle_t builtin_udp = nullptr;
dissector_table_t udp_ports = nullptr;

/// An entry of a dissector table whose default is one of the plugin's dissectors.
struct Place {
  const char* table;
  guint32 value;
  dissector_handle_t ours;
  dissector_handle_t before;  ///< null: there was none
};
std::vector<Place> taken;

/// Changes the default of an entry, and nothing that the user chose for it. An entry that differs from its default
/// would count as chosen by the user: "Decode As" shows and saves such entries.
void set_default(const char* table_name, guint32 value, dissector_handle_t handle) {
  auto* const table = find_dissector_table(table_name);
  const bool is_chosen = dissector_is_uint_changed(table, value) != 0;
  auto* const chosen = dissector_get_uint_handle(table, value);
  if (handle != nullptr) {
    dissector_add_uint(table_name, value, handle);
  } else {
    dissector_delete_uint(table_name, value, dissector_get_default_uint_handle(table_name, value));
  }
  if (is_chosen && chosen != handle) dissector_change_uint(table_name, value, chosen);
}

void take(const char* table, guint32 value, dissector_handle_t ours) {
  auto* const before = dissector_get_default_uint_handle(table, value);
  if (before == ours) return;
  taken.push_back({table, value, ours, before});
  set_default(table, value, ours);
}

void take_port(guint32 port, gpointer /*data*/) {
  take(kUdpPorts, port, v2_handle);
}

void give_all_back() {
  for (const Place& place : taken) {
    // A built-in dissector may have taken the entry back by itself.
    if (dissector_get_default_uint_handle(place.table, place.value) != place.ours) continue;
    set_default(place.table, place.value, place.before);
  }
  taken.clear();
}

/// Resets an entry for which the user's saved choice is the plugin's dissector.
void forget_choice(const char* table_name, guint32 value, dissector_handle_t ours) {
  if (dissector_get_uint_handle(find_dissector_table(table_name), value) == ours) {
    dissector_reset_uint(table_name, value);
  }
}

void forget_port(guint32 port, gpointer /*data*/) {
  forget_choice(kUdpPorts, port, v2_handle);
}

/// Wireshark first asks the dissector of the smaller of a packet's two ports, and the source port of RoCE is arbitrary.
/// It asks the conversation before either port, so the conversation is set to the plugin for packets to its ports.
void claim_conversation(tvbuff_t* tvb, packet_info* pinfo) {
  constexpr gint kPorts = 4;
  constexpr gint kDestinationPort = 2;
  if (pinfo->fd->visited || !tvb_bytes_exist(tvb, 0, kPorts)) return;
  const guint32 source = tvb_get_ntohs(tvb, 0);
  const guint32 destination = tvb_get_ntohs(tvb, kDestinationPort);
  if (source >= destination || !is_roce_port(destination) || dissector_is_uint_changed(udp_ports, source)) return;
  if (dissector_get_uint_handle(udp_ports, source) == nullptr) return;
  conversation_t* conversation =
      find_conversation(pinfo->num, &pinfo->src, &pinfo->dst, CONVERSATION_UDP, source, destination, 0);
  if (conversation == nullptr) {
    conversation = conversation_new(pinfo->num, &pinfo->src, &pinfo->dst, CONVERSATION_UDP, source, destination, 0);
  }
  if (conversation_get_dissector(conversation, pinfo->num) == nullptr) {
    conversation_set_dissector(conversation, v2_handle);
  }
}

int dissect_udp(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data) {
  claim_conversation(tvb, pinfo);
  return call_dissector_only(builtin_udp, tvb, pinfo, tree, data);
}

}  // namespace

void make_handles(int proto) {
  const auto make = [proto](dissector_t dissect, const char* name, const char* description) {
    return create_dissector_handle_with_name_and_description(dissect, proto, name, description);
  };
  v1_handle = make(dissect_v1, "roce.v1", "RoCE v1");
  v2_handle = make(dissect_v2, "roce.v2", "RoCE v2");
  mac_control_handle = make(dissect_mac_control, "roce.mac_control", "PFC and PAUSE");
  cn_tag_handle = make(dissect_cn_tag, "roce.cn_tag", "Congestion notification tag");
  cnm_handle = make(dissect_cnm, "roce.cnm", "Congestion notification message");
  // It does not belong to a protocol, so that it is not listed among the layers of a packet.
  constexpr int kNoProtocol = -1;
  udp_handle =
      create_dissector_handle_with_name_and_description(dissect_udp, kNoProtocol, "roce.udp", "UDP, RoCE first");
  udp_ports = find_dissector_table(kUdpPorts);
  dissector_add_for_decode_as(kUdpPorts, v2_handle);
}

void take_ports() {
  // A list of ports may have changed since the last call.
  give_all_back();
  // All dissectors have been registered only by now.
  builtin_v1 = dissector_get_default_uint_handle(kEthertypes, kRoceV1);
  builtin_v2 = dissector_get_default_uint_handle(kUdpPorts, kRocePort);
  builtin_mac_control = dissector_get_default_uint_handle(kEthertypes, kMacControl);
  builtin_udp = dissector_get_default_uint_handle(kIpProtocols, kUdp);
  if (preferences().dissector() == Mode::off) {
    range_foreach(preferences().ports, forget_port, nullptr);
    forget_choice(kEthertypes, kRoceV1, v1_handle);
    forget_choice(kEthertypes, kMacControl, mac_control_handle);
    return;
  }
  range_foreach(preferences().ports, take_port, nullptr);
  take(kEthertypes, kRoceV1, v1_handle);
  take(kEthertypes, kMacControl, mac_control_handle);
  take(kEthertypes, kCnTag, cn_tag_handle);
  take(kEthertypes, kCnm, cnm_handle);
  if (builtin_udp != nullptr) take(kIpProtocols, kUdp, udp_handle);
}

bool is_roce_port(guint32 port) {
  return dissector_get_uint_handle(udp_ports, port) == v2_handle;
}

int call_ethertype(guint32 ether_type, tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree) {
  return dissector_try_uint(find_dissector_table(kEthertypes), ether_type, tvb, pinfo, tree);
}

int call_builtin(RoceVersion version, tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree) {
  auto* const handle = version == RoceVersion::v1 ? builtin_v1 : builtin_v2;
  return handle != nullptr ? call_dissector_only(handle, tvb, pinfo, tree, nullptr) : 0;
}

int call_builtin_mac_control(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree) {
  return builtin_mac_control != nullptr ? call_dissector_only(builtin_mac_control, tvb, pinfo, tree, nullptr) : 0;
}

}  // namespace roce::plugin
