// SPDX-License-Identifier: GPL-2.0-or-later
#include "wireshark/epan/cm_conversations.h"

#include <algorithm>

#include "wireshark/epan/qp_conversations.h"

namespace roce::plugin {

namespace {

CmConnections connections;

ServiceData* data_with_message(const Packet& packet, const CmMessage& message, std::uint64_t service_id,
                               bool client_to_server) {
  ServiceData* const data = new_service_data(service_id, client_to_server);
  const Bytes bytes = packet.bytes().subspan(message.offset, std::min<std::size_t>(message.size, MAD_DATA_SIZE));
  std::transform(bytes.begin(), bytes.end(), std::begin(data->mad_private_data),
                 [](std::byte octet) { return std::to_integer<guint8>(octet); });
  return data;
}

void add_conversations(packet_info* pinfo, const Packet& packet, const CmMessage& message,
                       const CmConnections::Found& found) {
  const CmConnection& connection = *found.connection;
  const guint32 client_qp = connection.client_qpn.value();
  const guint32 server_qp = connection.server_qpn.value();
  if (found.news == CmConnections::News::requested) {
    add_one_way(pinfo, &pinfo->src, client_qp, data_with_message(packet, message, connection.service_id, false));
  } else if (found.news == CmConnections::News::answered) {
    if (ServiceData* const to_client = find_one_way(pinfo, &pinfo->dst, client_qp)) to_client->src_qp = server_qp;
    ServiceData* const to_server = data_with_message(packet, message, connection.service_id, true);
    to_server->src_qp = client_qp;
    add_one_way(pinfo, &pinfo->src, server_qp, to_server);
    add_both_ways(pinfo, server_qp, client_qp, new_service_data(connection.service_id, false));
  }
  // The CM messages of all connections between two hosts use the same QPs.
  const ServiceData* const last = find_both_ways(pinfo);
  if (last == nullptr || last->service_id != connection.service_id) {
    add_both_ways(pinfo, pinfo->srcport, pinfo->destport, new_service_data(connection.service_id, true));
  }
}

void call_private_data(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, const CmMessage& message, int base) {
  static auto* const list = find_heur_dissector_list("infiniband.mad.cm.private");
  if (list == nullptr) return;
  infinibandinfo info{};
  info.payload_tree = tree;
  info.cm_attribute_id = message.attribute;
  tvbuff_t* const data = tvb_new_subset_length(tvb, base + static_cast<int>(message.private_data_offset),
                                               static_cast<int>(message.private_data_size));
  heur_dtbl_entry_t* entry = nullptr;
  dissector_try_heuristic(list, data, pinfo, tree, &entry, &info);
}

}  // namespace

void begin_cm_conversations() {
  connections.clear();
}

void take_cm_message(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, const Packet& packet, int base) {
  const std::optional<CmMessage> message = read_cm_message(packet);
  if (!message) return;
  if (!pinfo->fd->visited) {
    const NetMeta net = packet.net();
    const CmConnections::Found found = connections.observe(*message, net.source, net.destination);
    if (found.connection) add_conversations(pinfo, packet, *message, found);
  }
  call_private_data(tvb, pinfo, tree, *message, base);
}

}  // namespace roce::plugin
