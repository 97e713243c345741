// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/upper_protocols.h"

#include "plugin/cm_conversations.h"
#include "plugin/fields.h"
#include "plugin/qp_conversations.h"
#include "plugin/qp_table.h"
#include "plugin/source_qps.h"
#include "roce/wire/all_headers.h"

namespace roce::plugin {

namespace {

constexpr guint32 kManagementQp = 1;
/// Where the private data of an NVMe host in a CM REQ has the number of the queue.
constexpr std::size_t kNvmeQueuePlace = kSize<CmReq> - sizeof(CmReq::private_data) + kSize<Cma> + 2;

SourceQps source_qps;

/// RPC-over-RDMA keeps the last one that it saw, for when it is called without any.
infinibandinfo info;

/// What says about a conversation that it is one of RPC-over-RDMA.
int rpc_mark = 0;

bool is_connected(Service service) {
  return service == Service::rc || service == Service::uc || service == Service::xrc;
}

bool carries_upper_protocol(Operation operation) {
  return operation == Operation::send || operation == Operation::write || operation == Operation::read_request ||
         operation == Operation::read_response;
}

bool is_complete(const ServiceData* data) {
  return data != nullptr && data->src_qp != 0 && data->src_qp != kUnknownQp;
}

/// Moves what upper protocols remember from before the source was known to the conversation of both ends.
void take_state(packet_info* pinfo, conversation_t* both_ends) {
  const auto take_from = [&](const address* from, const address* to, guint32 qpn) {
    const conversation_t* const before = find_conversation(pinfo->num, from, to, CONVERSATION_IBQP, kUnknownQp, qpn, 0);
    if (before != nullptr) hand_over(before, both_ends);
  };
  take_from(&pinfo->src, &pinfo->dst, pinfo->destport);
  take_from(&pinfo->dst, &pinfo->src, pinfo->srcport);
}

void add_both_ends(packet_info* pinfo, ServiceData* data) {
  conversation_t* const both_ends = add_both_ways(pinfo, pinfo->srcport, pinfo->destport, data);
  if (pinfo->srcport != kUnknownQp) take_state(pinfo, both_ends);
}

/// A line of the table that a packet belongs to.
struct TableMatch {
  const QpEntry* entry = nullptr;  ///< null: there is none
  bool to_server = false;
};

TableMatch find_in_table(const packet_info* pinfo, const Packet& packet) {
  if (qp_table().empty()) return {};
  const NetMeta net = packet.net();
  if (const QpEntry* const entry = qp_table().find(net.destination, Qpn{pinfo->destport})) {
    return {entry, !entry->is_client};
  }
  if (pinfo->srcport == kUnknownQp) return {};
  const QpEntry* const entry = qp_table().find(net.source, Qpn{pinfo->srcport});
  return {entry, entry != nullptr && entry->is_client};
}

void add_table_conversations(packet_info* pinfo, const TableMatch& match) {
  const auto make = [&](bool client_to_server, guint32 source_qp) {
    ServiceData* const data = new_service_data(match.entry->service_id, client_to_server);
    data->src_qp = source_qp;
    data->mad_private_data[kNvmeQueuePlace] = static_cast<guint8>(match.entry->queue);
    data->mad_private_data[kNvmeQueuePlace + 1] = static_cast<guint8>(match.entry->queue >> 8U);
    return data;
  };
  add_one_way(pinfo, &pinfo->dst, pinfo->destport, make(match.to_server, pinfo->srcport));
  add_one_way(pinfo, &pinfo->src, pinfo->srcport, make(!match.to_server, pinfo->destport));
  add_both_ends(pinfo, make(match.to_server, 0));
}

/// Finds the source QP of a connected packet, and on the first pass makes the conversations that are missing.
TableMatch connect(packet_info* pinfo, const ShownPacket& shown) {
  const PacketFacts* const facts = shown.facts;
  const bool is_first_pass = !pinfo->fd->visited;
  const bool has_stream = facts != nullptr && facts->stream != analysis::kNoStream;
  auto news = SourceQps::News::none;
  if (has_stream && is_first_pass) {
    const OpcodeInfo& opcode = shown.packet.info();
    const bool begins_message = opcode.operation == Operation::send &&
                                (opcode.position == Position::first || opcode.position == Position::only);
    news = source_qps.observe(facts->stream, facts->direction, Qpn{pinfo->destport}, begins_message, pinfo->num);
  }
  const ServiceData* const service = find_one_way(pinfo, &pinfo->dst, pinfo->destport);
  if (is_complete(service)) {
    pinfo->srcport = service->src_qp;
  } else if (has_stream) {
    const std::optional<Qpn> source = source_qps.find(facts->stream, facts->direction, pinfo->num);
    if (source) pinfo->srcport = source->value();
  }
  const TableMatch match = find_in_table(pinfo, shown.packet);
  if (!is_first_pass || is_complete(service)) return match;
  const bool is_service = match.entry != nullptr && match.entry->dissector.empty();
  if (is_service && (service == nullptr || pinfo->srcport != kUnknownQp)) {
    add_table_conversations(pinfo, match);
  } else if (news == SourceQps::News::both_known) {
    add_both_ends(pinfo, nullptr);
  } else if (news == SourceQps::News::in_use && pinfo->srcport != kUnknownQp) {
    if (conversation_t* const both_ends = find_conversation_pinfo(pinfo, 0)) take_state(pinfo, both_ends);
  }
  return match;
}

/// RPC-over-RDMA takes the pad of WRITEs and READ responses for the padding of its own that it needs behind them.
bool wants_pad(packet_info* pinfo, const Packet& packet) {
  if (packet.pad().empty() || packet.info().operation == Operation::send) return false;
  const conversation_t* const conversation = find_conversation_pinfo(pinfo, 0);
  return conversation != nullptr && conversation_get_proto_data(conversation, fields().proto) != nullptr;
}

void mark_rpc(packet_info* pinfo, const heur_dtbl_entry_t* entry) {
  static const int rpc = proto_get_id_by_filter_name("rpcordma");
  if (entry == nullptr || proto_get_id(entry->protocol) != rpc) return;
  conversation_t* const conversation = find_conversation_pinfo(pinfo, 0);
  if (conversation != nullptr && conversation_get_proto_data(conversation, fields().proto) == nullptr) {
    conversation_add_proto_data(conversation, fields().proto, &rpc_mark);
  }
}

void fill_info(proto_tree* tree, const Packet& packet, bool with_pad) {
  const Bth bth = packet.bth();
  info = {};
  info.payload_tree = tree;
  info.opCode = static_cast<guint8>(packet.opcode());
  info.pad_count = with_pad ? bth.pad_count : guint8{0};
  info.packet_seq_num = bth.psn.value();
  if (const std::optional<Reth> reth = packet.get<Reth>()) {
    info.reth_remote_key = reth->r_key.value();
    info.reth_remote_address = reth->virtual_address;
    info.reth_dma_length = reth->dma_length;
  }
}

bool call_named(tvbuff_t* payload, packet_info* pinfo, proto_tree* tree, const QpEntry& entry) {
  const NamedDissector named = find_named_dissector(entry.dissector.c_str());
  if (named.handle == nullptr) return false;
  return call_dissector_only(named.handle, payload, pinfo, tree, named.takes_infiniband_info ? &info : nullptr) > 0;
}

bool call_heuristics(tvbuff_t* payload, packet_info* pinfo, proto_tree* tree) {
  static const heur_dissector_list_t list = find_heur_dissector_list("infiniband.payload");
  heur_dtbl_entry_t* entry = nullptr;
  if (list == nullptr || !dissector_try_heuristic(list, payload, pinfo, tree, &entry, &info)) return false;
  mark_rpc(pinfo, entry);
  return true;
}

void call_decode_as(tvbuff_t* payload, packet_info* pinfo, proto_tree* tree) {
  static const dissector_table_t table = find_dissector_table("infiniband");
  if (table != nullptr) dissector_try_payload_new(table, payload, pinfo, tree, TRUE, &info);
}

void call_upper_protocol(tvbuff_t* payload, packet_info* pinfo, proto_tree* tree, const QpEntry* entry) {
  if (entry != nullptr && !entry->dissector.empty() && call_named(payload, pinfo, tree, *entry)) return;
  if (!call_heuristics(payload, pinfo, tree)) call_decode_as(payload, pinfo, tree);
}

/// Whether there is enough of the payload for an upper protocol. Of a message of several packets it wants all.
bool is_whole_enough(const Packet& packet) {
  const ParseReason reason = packet.problem().reason;
  if (reason != ParseReason::none && reason != ParseReason::cut_short) return false;
  if (packet.payload().size() == packet.payload_length()) return true;
  return packet.info().operation == Operation::send && packet.info().position == Position::only &&
         !packet.payload().empty();
}

void dissect_payload(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, const ShownPacket& shown,
                     const QpEntry* entry) {
  const Packet& packet = shown.packet;
  if (!carries_upper_protocol(packet.info().operation) || !is_whole_enough(packet)) return;
  const bool with_pad = wants_pad(pinfo, packet);
  const std::size_t pad = with_pad ? packet.pad().size() : 0;
  const int begin = static_cast<int>(shown.base + packet.payload_offset() - shown.tvb_base);
  tvbuff_t* const payload = tvb_new_subset_length_caplen(tvb, begin, static_cast<int>(packet.payload().size() + pad),
                                                         static_cast<int>(packet.payload_length() + pad));
  fill_info(tree, packet, with_pad);
  call_upper_protocol(payload, pinfo, tree, entry);
}

void dissect_by_qp(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, const ShownPacket& shown) {
  const Packet& packet = shown.packet;
  if (pinfo->destport <= kManagementQp || pinfo->srcport <= kManagementQp) {
    take_cm_message(tvb, pinfo, tree, packet, static_cast<int>(shown.base - shown.tvb_base));
    return;
  }
  const TableMatch match = is_connected(packet.info().service) ? connect(pinfo, shown) : find_in_table(pinfo, packet);
  dissect_payload(tvb, pinfo, tree, shown, match.entry);
}

}  // namespace

void begin_upper_protocols() {
  source_qps.clear();
  begin_qp_conversations();
  begin_cm_conversations();
}

void dissect_upper_protocols(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, const ShownPacket& shown) {
  const std::optional<Deth> deth = shown.packet.get<Deth>();
  pinfo->ptype = PT_IBQP;
  pinfo->srcport = deth ? deth->source_qp.value() : kUnknownQp;
  pinfo->destport = shown.packet.bth().dest_qp.value();
  // What an ICMP error quotes was sent before, and is not sent again.
  if (!shown.packet.info().defined() || pinfo->flags.in_error_pkt != 0) return;
  const char* const protocol = pinfo->current_proto;
  TRY {
    dissect_by_qp(tvb, pinfo, tree, shown);
  }
  CATCH_BOUNDS_AND_DISSECTOR_ERRORS {
    show_exception(tvb, pinfo, tree, EXCEPT_CODE, GET_MESSAGE);
  }
  ENDTRY;
  pinfo->current_proto = protocol;
}

}  // namespace roce::plugin
