// SPDX-License-Identifier: GPL-2.0-or-later
#include "wireshark/epan/upper_protocols.h"

#include "roce/wire/all_headers.h"
#include "wireshark/epan/cm_conversations.h"
#include "wireshark/epan/fields.h"
#include "wireshark/epan/preferences.h"
#include "wireshark/epan/qp_conversations.h"
#include "wireshark/epan/qp_table.h"
#include "wireshark/parts/message_assembly.h"
#include "wireshark/parts/source_qps.h"

namespace roce::plugin {

namespace {

constexpr guint32 kManagementQp = 1;
/// The offset of the queue number in a CM REQ whose private data comes from an NVMe host.
constexpr std::size_t kNvmeQueuePlace = kSize<CmReq> - sizeof(CmReq::private_data) + kSize<Cma> + 2;

SourceQps source_qps;
MessageAssembly assembly;

/// Static, because the RPC-over-RDMA dissector keeps the last one that it got for calls without one.
infinibandinfo info;

/// Marks a conversation as one of RPC-over-RDMA.
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

/// Moves what upper protocols remember from the time before the source was known to the conversation of both ends.
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

/// The line of the table that a packet belongs to.
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

/// Finds the source QP of a connected packet. On the first pass, also creates the missing conversations.
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

/// True if the pad is passed on: RPC-over-RDMA takes the pad of WRITEs and READ responses for its own padding.
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

/// Tells upper protocols that they get SENDs whole. Since Wireshark 4.4 SMB Direct takes none before it knows that.
template <typename Info>
void promise_whole_sends(Info& of_packet) {
  if constexpr (requires { of_packet.do_rc_send_reassembling; }) of_packet.do_rc_send_reassembling = true;
}

void fill_info(proto_tree* tree, const Packet& packet, Opcode opcode, bool with_pad) {
  const Bth bth = packet.bth();
  info = {};
  info.payload_tree = tree;
  info.opCode = static_cast<guint8>(opcode);
  info.pad_count = with_pad ? bth.pad_count : guint8{0};
  info.packet_seq_num = bth.psn.value();
  promise_whole_sends(info);
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
  static auto* const list = find_heur_dissector_list("infiniband.payload");
  heur_dtbl_entry_t* entry = nullptr;
  if (list == nullptr || !dissector_try_heuristic(list, payload, pinfo, tree, &entry, &info)) return false;
  mark_rpc(pinfo, entry);
  return true;
}

bool call_decode_as(tvbuff_t* payload, packet_info* pinfo, proto_tree* tree) {
  static auto* const table = find_dissector_table("infiniband");
  return table != nullptr && call_from_table(table, payload, pinfo, tree, &info) > 0;
}

/// The order of heuristics and "Decode As" is a preference of the built-in dissector.
bool tries_heuristics_first() {
  static pref_t* const preference = prefs_find_preference(prefs_find_module("infiniband"), "try_heuristic_first");
  return preference != nullptr && static_cast<bool>(prefs_get_bool_value(preference, pref_current));
}

/// True if a dissector took the payload.
bool call_upper_protocol(tvbuff_t* payload, packet_info* pinfo, proto_tree* tree, const QpEntry* entry) {
  if (entry != nullptr && !entry->dissector.empty() && call_named(payload, pinfo, tree, *entry)) return true;
  if (tries_heuristics_first()) {
    return call_heuristics(payload, pinfo, tree) || call_decode_as(payload, pinfo, tree);
  }
  return call_decode_as(payload, pinfo, tree) || call_heuristics(payload, pinfo, tree);
}

/// True if enough of the payload was captured for an upper protocol. In messages of several packets it needs all of it.
bool is_whole_enough(const Packet& packet) {
  const ParseReason reason = packet.problem().reason;
  if (reason != ParseReason::none && reason != ParseReason::cut_short) return false;
  if (packet.payload().size() == packet.payload_length()) return true;
  return packet.info().operation == Operation::send && packet.info().position == Position::only &&
         !packet.payload().empty();
}

/// True if the payload goes to the upper protocol together with that of other packets. WRITEs and READ responses are
/// not joined: upper protocols know by the R_Key which of them belong together.
bool is_part_of_message(const ShownPacket& shown) {
  const OpcodeInfo& opcode = shown.packet.info();
  return static_cast<bool>(preferences().reassemble) && is_connected(opcode.service) &&
         opcode.operation == Operation::send && opcode.position != Position::only && shown.facts != nullptr &&
         shown.facts->role == analysis::PacketRole::request;
}

/// Returns the message that a packet is part of, if all of it has been seen by now.
const MessageAssembly::Message* find_message(const packet_info* pinfo, const ShownPacket& shown) {
  const PacketFacts& facts = *shown.facts;
  const MessageAssembly::Channel channel{facts.stream, facts.direction};
  // A receiver drops damaged packets.
  if (shown.icrc.status == IcrcStatus::bad) return nullptr;
  if (pinfo->fd->visited) return assembly.find(channel, facts.relative_psn);
  return assembly.add({.channel = channel,
                       .psn = facts.relative_psn,
                       .place = {pinfo->num, facts.offset},
                       .opcode = shown.packet.opcode(),
                       .payload = shown.packet.payload()});
}

/// Adds the parts of a message to the tree. Returns the tree of the message.
proto_tree* show_parts(tvbuff_t* tvb, proto_tree* tree, const MessageAssembly::Message& message) {
  const auto number = [](auto value) { return static_cast<guint32>(value); };
  const MessageAssembly::Part& end = message.parts.back();
  proto_item* const item = proto_tree_add_item(tree, fields().reassembled, tvb, 0, 0, ENC_NA);
  proto_item_append_text(item, " (%u bytes in %u packets)", end.offset + end.size, number(message.parts.size()));
  proto_item_set_generated(item);
  proto_tree* const inner = proto_item_add_subtree(item, fields().reassembled_tree);
  for (const MessageAssembly::Part& part : message.parts) {
    proto_item* const link = proto_tree_add_uint(inner, fields().reassembled_packet, tvb, 0, 0, number(part.frame));
    proto_item_append_text(link, " (%u bytes)", part.size);
    proto_item_set_generated(link);
  }
  proto_item_set_generated(proto_tree_add_uint(inner, fields().reassembled_length, tvb, 0, 0, end.offset + end.size));
  return inner;
}

void dissect_message(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, const ShownPacket& shown,
                     const MessageAssembly::Message& message, const QpEntry* entry) {
  proto_tree* const parts = show_parts(tvb, tree, message);
  if (message.bytes.empty()) return;
  const auto size = static_cast<int>(message.bytes.size());
  const auto* const bytes = reinterpret_cast<const guint8*>(message.bytes.data());
  tvbuff_t* const whole = tvb_new_child_real_data(tvb, bytes, static_cast<guint>(size), size);
  fill_info(tree, shown.packet, message.opcode, false);
  if (call_upper_protocol(whole, pinfo, tree, entry)) {
    add_new_data_source(pinfo, whole, "Reassembled RoCE message");
    proto_tree_add_item(parts, fields().reassembled_data, whole, 0, size, ENC_NA);
  } else if (!pinfo->fd->visited) {
    assembly.drop_last();
  }
}

void dissect_part(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, const ShownPacket& shown, const QpEntry* entry) {
  const MessageAssembly::Message* const message = find_message(pinfo, shown);
  if (message == nullptr) return;
  if (message->completed_by == MessageAssembly::Place{pinfo->num, shown.facts->offset}) {
    dissect_message(tvb, pinfo, tree, shown, *message, entry);
  } else {
    proto_item_set_generated(proto_tree_add_uint(tree, fields().reassembled_in, tvb, 0, 0,
                                                 static_cast<guint32>(message->completed_by.frame)));
  }
}

void dissect_payload(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, const ShownPacket& shown,
                     const QpEntry* entry) {
  const Packet& packet = shown.packet;
  if (!carries_upper_protocol(packet.info().operation) || !is_whole_enough(packet)) return;
  if (is_part_of_message(shown)) return dissect_part(tvb, pinfo, tree, shown, entry);
  const bool with_pad = wants_pad(pinfo, packet);
  const std::size_t pad = with_pad ? packet.pad().size() : 0;
  const int begin = static_cast<int>(shown.base + packet.payload_offset() - shown.tvb_base);
  tvbuff_t* const payload = tvb_new_subset_length_caplen(tvb, begin, static_cast<int>(packet.payload().size() + pad),
                                                         static_cast<int>(packet.payload_length() + pad));
  fill_info(tree, packet, packet.opcode(), with_pad);
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
  assembly.clear();
  begin_qp_conversations();
  begin_cm_conversations();
}

void dissect_upper_protocols(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, const ShownPacket& shown) {
  const std::optional<Deth> deth = shown.packet.get<Deth>();
  pinfo->ptype = PT_IBQP;
  pinfo->srcport = deth ? deth->source_qp.value() : kUnknownQp;
  pinfo->destport = shown.packet.bth().dest_qp.value();
  // A packet quoted by an ICMP error was sent earlier; it is not sent again.
  if (!shown.packet.info().defined() || pinfo->flags.in_error_pkt != 0) return;
  const char* const protocol = pinfo->current_proto;
  TRY {
    dissect_by_qp(tvb, pinfo, tree, shown);
  }
  CATCH_BOUNDS_AND_DISSECTOR_ERRORS {
    // An upper protocol may lack bytes that were not captured: a cut packet is not malformed.
    const bool is_cut = shown.packet.problem().reason == ParseReason::cut_short;
    const bool is_missing = EXCEPT_CODE == ReportedBoundsError || EXCEPT_CODE == ContainedBoundsError;
    if (!is_cut || !is_missing) show_exception(tvb, pinfo, tree, EXCEPT_CODE, GET_MESSAGE);
  }
  ENDTRY;
  pinfo->current_proto = protocol;
}

}  // namespace roce::plugin
