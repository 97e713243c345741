// SPDX-License-Identifier: BSD-2-Clause
#include "wireshark/parts/cm_connections.h"

#include <exception>

#include "roce/wire/all_headers.h"

namespace roce::plugin {

namespace {

/// Reads a message of type H. Private data is the last field of each of these messages.
template <HeaderType H>
CmMessage message_of(const Packet& packet, const Layer& layer, MadAttribute attribute) {
  const H header = read<H>(packet.layer_bytes(layer).data());
  CmMessage message;
  message.attribute = static_cast<std::uint16_t>(attribute);
  message.local_comm_id = header.local_comm_id.value();
  if constexpr (requires { header.remote_comm_id; }) {
    message.remote_comm_id = header.remote_comm_id.value();
  }
  if constexpr (requires { header.local_qpn; }) message.qpn = header.local_qpn;
  if constexpr (requires { header.service_id; }) message.service_id = header.service_id.value();
  message.offset = layer.offset;
  message.size = layer.size;
  message.private_data_size = static_cast<std::uint32_t>(header.private_data.size());
  message.private_data_offset = layer.offset + layer.size - message.private_data_size;
  return message;
}

}  // namespace

std::optional<CmMessage> read_cm_message(const Packet& packet) {
  for (const Layer& layer : packet.layers()) {
    switch (layer.id) {
      case HeaderId::cm_req: {
        CmMessage message = message_of<CmReq>(packet, layer, MadAttribute::cm_req);
        if (packet.find(HeaderId::cma)) {
          message.private_data_offset += static_cast<std::uint32_t>(kSize<Cma>);
          message.private_data_size -= static_cast<std::uint32_t>(kSize<Cma>);
        }
        return message;
      }
      case HeaderId::cm_rep:
        return message_of<CmRep>(packet, layer, MadAttribute::cm_rep);
      case HeaderId::cm_rtu:
        return message_of<CmRtu>(packet, layer, MadAttribute::cm_rtu);
      case HeaderId::cm_rej:
        return message_of<CmRej>(packet, layer, MadAttribute::cm_rej);
      case HeaderId::cm_dreq:
        return message_of<CmDreq>(packet, layer, MadAttribute::cm_dreq);
      case HeaderId::cm_drep:
        return message_of<CmDrep>(packet, layer, MadAttribute::cm_drep);
      default:
        break;
    }
  }
  return std::nullopt;
}

CmConnections::Found CmConnections::request(const CmMessage& message, const Key& sender) {
  const auto known = by_end_.find(sender);
  if (known != by_end_.end()) {
    const CmConnection& connection = connections_[known->second];
    if (connection.client_qpn == message.qpn && connection.service_id == message.service_id) return {connection};
  }
  connections_.push_back({message.service_id, message.qpn, Qpn{}});
  by_end_[sender] = connections_.size() - 1;
  return {connections_.back(), News::requested};
}

CmConnections::Found CmConnections::observe(const CmMessage& message, const Gid& source,
                                            const Gid& destination) noexcept {
  try {
    const Key sender{source, message.local_comm_id};
    if (message.attribute == static_cast<std::uint16_t>(MadAttribute::cm_req)) return request(message, sender);
    auto known = by_end_.find({destination, message.remote_comm_id});
    if (known == by_end_.end()) known = by_end_.find(sender);
    if (known == by_end_.end()) return {};
    const std::size_t index = known->second;
    CmConnection& connection = connections_[index];
    const bool is_reply = message.attribute == static_cast<std::uint16_t>(MadAttribute::cm_rep);
    if (!is_reply || connection.server_qpn == message.qpn) return {connection};
    by_end_[sender] = index;
    connection.server_qpn = message.qpn;
    return {connection, News::answered};
  } catch (const std::exception&) {
    return {};
  }
}

void CmConnections::clear() {
  connections_.clear();
  by_end_.clear();
}

}  // namespace roce::plugin
