// SPDX-License-Identifier: GPL-2.0-or-later
#include "wireshark/epan/qp_conversations.h"

namespace roce::plugin {

namespace {

constexpr guint kOneWay = NO_ADDR2 | NO_PORT2;
constexpr guint kAnySecond = NO_ADDR_B | NO_PORT_B;

bool has_one_way = false;

/// Returns the built-in dissector's protocol, under which upper protocols look for service data.
int service_proto() {
  static const int proto = proto_get_id_by_filter_name("infiniband");
  return proto;
}

ServiceData* service_data(const conversation_t* conversation) {
  if (conversation == nullptr) return nullptr;
  return static_cast<ServiceData*>(conversation_get_proto_data(conversation, service_proto()));
}

EpanBool copy_state(const void* key, void* value, void* to) {
  const auto proto = static_cast<int>(GPOINTER_TO_UINT(key));
  auto* const conversation = static_cast<conversation_t*>(to);
  if (proto != service_proto() && conversation_get_proto_data(conversation, proto) == nullptr) {
    conversation_add_proto_data(conversation, proto, value);
  }
  return FALSE;
}

}  // namespace

void begin_qp_conversations() {
  has_one_way = false;
}

ServiceData* new_service_data(std::uint64_t service_id, bool client_to_server) {
  ServiceData* const data = wmem_new0(wmem_file_scope(), ServiceData);
  data->service_id = service_id;
  data->client_to_server = client_to_server ? TRUE : FALSE;
  return data;
}

void add_one_way(const packet_info* pinfo, const address* host, guint32 qpn, ServiceData* data) {
  conversation_t* const conversation = conversation_new(pinfo->num, host, host, CONVERSATION_IBQP, qpn, qpn, kOneWay);
  conversation_add_proto_data(conversation, service_proto(), data);
  has_one_way = true;
}

ServiceData* find_one_way(const packet_info* pinfo, const address* host, guint32 qpn) {
  if (!has_one_way) return nullptr;
  return service_data(find_conversation(pinfo->num, host, host, CONVERSATION_IBQP, qpn, qpn, kAnySecond));
}

conversation_t* add_both_ways(const packet_info* pinfo, guint32 source_qp, guint32 dest_qp, ServiceData* data) {
  conversation_t* const conversation =
      conversation_new(pinfo->num, &pinfo->src, &pinfo->dst, CONVERSATION_IBQP, source_qp, dest_qp, 0);
  if (data != nullptr) conversation_add_proto_data(conversation, service_proto(), data);
  return conversation;
}

ServiceData* find_both_ways(const packet_info* pinfo) {
  return service_data(
      find_conversation(pinfo->num, &pinfo->src, &pinfo->dst, CONVERSATION_IBQP, pinfo->srcport, pinfo->destport, 0));
}

void hand_over(const conversation_t* from, conversation_t* to) {
  if (from != to && from->data_list != nullptr) wmem_tree_foreach(from->data_list, copy_state, to);
}

}  // namespace roce::plugin
