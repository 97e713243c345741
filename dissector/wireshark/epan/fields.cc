// SPDX-License-Identifier: GPL-2.0-or-later
#include "wireshark/epan/fields.h"

#include <algorithm>
#include <deque>
#include <string>

#include "roce/wire/fields.h"
#include "wireshark/parts/text.h"

namespace roce::plugin {

namespace {

Fields registered;

constexpr std::array kVersionNames{ValueName{1, "RoCEv1"}, ValueName{2, "RoCEv2 over IPv4"},
                                   ValueName{3, "RoCEv2 over IPv6"}};
constexpr std::array kServiceNames{ValueName{0, "RC"}, ValueName{1, "UC"},  ValueName{2, "RD"},
                                   ValueName{3, "UD"}, ValueName{4, "CNP"}, ValueName{5, "XRC"}};
constexpr std::array kOperationNames{ValueName{1, "SEND"},
                                     ValueName{2, "WRITE"},
                                     ValueName{3, "READ request"},
                                     ValueName{4, "READ response"},
                                     ValueName{5, "Acknowledge"},
                                     ValueName{6, "Atomic acknowledge"},
                                     ValueName{7, "Compare and swap"},
                                     ValueName{8, "Fetch and add"},
                                     ValueName{9, "RESYNC"},
                                     ValueName{10, "FLUSH"},
                                     ValueName{11, "ATOMIC WRITE"},
                                     ValueName{12, "CNP"}};
constexpr std::array kAethKindNames{ValueName{0, "ACK"}, ValueName{1, "RNR NAK"}, ValueName{2, "Reserved"},
                                    ValueName{3, "NAK"}};
constexpr std::array kNakNames{ValueName{0, "PSN sequence error"}, ValueName{1, "Invalid request"},
                               ValueName{2, "Remote access error"}, ValueName{3, "Remote operational error"},
                               ValueName{4, "Invalid RD request"}};
constexpr std::array kServiceProtocolNames{ValueName{0x06, "TCP"}, ValueName{0x11, "UDP"}, ValueName{0x3F, "IB"}};
constexpr std::array kUncheckedNames{ValueName{0, "The network header is not known"}, ValueName{1, "No ICRC"},
                                     ValueName{2, "The capture does not have all it covers"},
                                     ValueName{3, "An IP fragment"}, ValueName{4, "Its place is not known"}};
constexpr std::array kRoleNames{ValueName{0, "Other"},    ValueName{1, "Request"}, ValueName{2, "Response"},
                                ValueName{3, "Datagram"}, ValueName{4, "CNP"},     ValueName{5, "Management"}};

/// Keeps everything to which Wireshark holds pointers, for as long as Wireshark runs.
class Registry {
 public:
  const char* keep(std::string_view text) { return texts_.emplace_back(text).c_str(); }

  const value_string* keep_names(std::span<const ValueName> names) {
    std::vector<value_string>& kept = names_.emplace_back();
    for (const ValueName& name : names) kept.push_back({static_cast<guint32>(name.value), keep(name.name)});
    kept.push_back({0, nullptr});
    return kept.data();
  }

  const val64_string* keep_names64(std::span<const ValueName> names) {
    std::vector<val64_string>& kept = names64_.emplace_back();
    for (const ValueName& name : names) kept.push_back({name.value, keep(name.name)});
    kept.push_back({0, nullptr});
    return kept.data();
  }

  /// A field that is to be registered. `name` follows after `roce.`.
  struct Row {
    std::string name;
    std::string_view title;
    ftenum_t type = FT_NONE;
    int display = BASE_NONE;
    const void* strings = nullptr;
    guint64 mask = 0;
    std::string_view blurb{};
  };
  void add(int& handle, const Row& row) {
    handle = -1;
    hf_register_info info{};
    info.p_id = &handle;
    info.hfinfo.name = keep(row.title);
    info.hfinfo.abbrev = keep("roce." + row.name);
    info.hfinfo.type = row.type;
    info.hfinfo.display = row.display;
    info.hfinfo.strings = row.strings;
    info.hfinfo.bitmask = row.mask;
    info.hfinfo.blurb = row.blurb.empty() ? nullptr : keep(row.blurb);
    info.hfinfo.id = -1;
    info.hfinfo.same_name_prev_id = -1;
    rows_.push_back(info);
  }
  void add_tree(int& handle) {
    handle = -1;
    trees_.push_back(&handle);
  }
  void add_expert(expert_field& handle, std::string_view name, int group, int severity, std::string_view summary) {
    handle = EI_INIT;
    ei_register_info info{};
    info.ids = &handle;
    info.eiinfo.name = keep("roce." + std::string{name});
    info.eiinfo.group = group;
    info.eiinfo.severity = severity;
    info.eiinfo.summary = keep(summary);
    info.eiinfo.id = 0;
    experts_.push_back(info);
  }

  void register_all(int proto) {
    proto_register_field_array(proto, rows_.data(), static_cast<int>(rows_.size()));
    proto_register_subtree_array(trees_.data(), static_cast<int>(trees_.size()));
    expert_module_t* const module = expert_register_protocol(proto);
    expert_register_field_array(module, experts_.data(), static_cast<int>(experts_.size()));
  }

 private:
  std::deque<std::string> texts_;
  std::deque<std::vector<value_string>> names_;
  std::deque<std::vector<val64_string>> names64_;
  std::vector<hf_register_info> rows_;
  std::vector<int*> trees_;
  std::vector<ei_register_info> experts_;
};

Registry& registry() {
  static Registry registry;
  return registry;
}

/// Returns the type of a number that is read from this many bytes.
ftenum_t number_type(std::size_t bytes, bool is_signed) {
  constexpr std::array kUnsigned{FT_UINT8, FT_UINT16, FT_UINT24, FT_UINT32, FT_UINT40, FT_UINT48, FT_UINT56, FT_UINT64};
  constexpr std::array kSigned{FT_INT8, FT_INT16, FT_INT24, FT_INT32, FT_INT40, FT_INT48, FT_INT56, FT_INT64};
  return is_signed ? kSigned[bytes - 1] : kUnsigned[bytes - 1];
}

/// Converts a row of the field table to Wireshark's form: the bytes around the field's bits, and a mask for the bits.
Registry::Row row_of(const HeaderInfo& header, const FieldInfo& field) {
  Registry::Row row{.name = std::string{header.name} + "." + std::string{field.name}, .title = field.title};
  const std::size_t end = (field.bit_offset + field.bit_width + 7U) / 8U;
  const std::size_t bytes = end - field.byte_offset();
  switch (field.format) {
    case FieldFormat::mac:
      row.type = FT_ETHER;
      return row;
    case FieldFormat::ipv4:
      row.type = FT_IPv4;
      return row;
    case FieldFormat::gid:
      row.type = FT_IPv6;
      return row;
    case FieldFormat::bytes:
      row.type = FT_BYTES;
      return row;
    default:
      break;
  }
  const bool is_whole = field.bit_width == bytes * 8;
  if (!is_whole) row.mask = ((guint64{1} << field.bit_width) - 1) << (end * 8 - field.bit_offset - field.bit_width);
  if (field.format == FieldFormat::boolean) {
    row.type = FT_BOOLEAN;
    row.display = static_cast<int>(bytes * 8);
    return row;
  }
  row.type = number_type(bytes, field.format == FieldFormat::signed_decimal);
  const bool is_hex = field.format == FieldFormat::hex || field.format == FieldFormat::reserved;
  row.display = is_hex ? BASE_HEX : BASE_DEC;
  if (field.value_names.empty()) return row;
  if (bytes > 4) {
    row.strings = registry().keep_names64(field.value_names);
    row.display |= BASE_VAL64_STRING;
  } else {
    row.strings = registry().keep_names(field.value_names);
  }
  return row;
}

void add_table() {
  Registry& all = registry();
  registered.field.assign(FieldNumbers::get().size(), -1);
  registered.encoding.assign(FieldNumbers::get().size(), ENC_BIG_ENDIAN);
  for (const HeaderInfo& header : header_table()) {
    const auto id = static_cast<std::size_t>(header.id);
    if (!is_shown(header.id)) continue;
    all.add(registered.header[id], {.name = std::string{header.name}, .title = header.title});
    all.add_tree(registered.header_tree[id]);
    std::size_t number = FieldNumbers::get().first_of(header.id);
    for (const FieldInfo& field : header.fields) {
      if (is_octets(field)) registered.encoding[number] = ENC_NA;
      all.add(registered.field[number++], row_of(header, field));
    }
  }
}

void add_derived() {
  Registry& all = registry();
  const auto add = [&](Derived id, const Registry::Row& row) {
    all.add(registered.derived[static_cast<std::size_t>(id)], row);
  };
  const auto names = [&](std::span<const ValueName> values) { return all.keep_names(values); };
  add(Derived::version, {"version", "RoCE Version", FT_UINT8, BASE_DEC, names(kVersionNames)});
  add(Derived::opcode_name, {"bth.opcode_name", "Name of the Opcode", FT_STRING, BASE_NONE});
  add(Derived::service, {"service", "Transport Service", FT_UINT8, BASE_DEC, names(kServiceNames)});
  add(Derived::operation, {"operation", "Operation", FT_UINT8, BASE_DEC, names(kOperationNames)});
  add(Derived::aeth_kind, {"aeth.kind", "Kind of Acknowledge", FT_UINT8, BASE_DEC, names(kAethKindNames)});
  add(Derived::aeth_name, {"aeth.syndrome_name", "Name of the Syndrome", FT_STRING, BASE_NONE});
  add(Derived::aeth_credits, {"aeth.credits", "End-to-end Credits", FT_UINT16, BASE_DEC});
  add(Derived::aeth_rnr_us, {"aeth.rnr_timer", "RNR Timer", FT_DOUBLE, BASE_NONE | BASE_UNIT_STRING,
                             &units_milliseconds, 0, "How long the requester has to wait at least"});
  add(Derived::aeth_code, {"aeth.code", "Code", FT_UINT8, BASE_DEC, nullptr, 0, "The low five bits of the syndrome"});
  add(Derived::aeth_reserved, {"aeth.reserved", "Reserved", FT_UINT8, BASE_DEC, nullptr, 0, "Its highest bit"});
  add(Derived::traffic_class, {"grh.traffic_class", "Traffic Class", FT_UINT8, BASE_HEX});
  add(Derived::mad_data, {"mad.data", "Data", FT_BYTES, BASE_NONE});
  add(Derived::service_port, {"service_port", "Service Port", FT_UINT16, BASE_DEC});
  add(Derived::service_protocol,
      {"service_protocol", "Service Protocol", FT_UINT8, BASE_HEX, names(kServiceProtocolNames)});
  add(Derived::cma_source, {"cma.source_ipv4", "Source IPv4 Address", FT_IPv4, BASE_NONE});
  add(Derived::cma_destination, {"cma.destination_ipv4", "Destination IPv4 Address", FT_IPv4, BASE_NONE});
  add(Derived::private_data, {"private_data", "Private Data of the Program", FT_BYTES, BASE_NONE});
  add(Derived::aeth_nak, {"aeth.nak_code", "NAK Code", FT_UINT8, BASE_DEC, names(kNakNames)});
  add(Derived::pause_ps, {"pause_time", "Pause Time", FT_DOUBLE, BASE_NONE | BASE_UNIT_STRING, &units_microseconds, 0,
                          "What the quanta mean at the link speed of the preferences"});
  add(Derived::payload, {"payload", "Payload", FT_BYTES, BASE_NONE});
  add(Derived::pad, {"pad", "Pad", FT_BYTES, BASE_NONE});
  add(Derived::icrc, {"icrc", "Invariant CRC", FT_UINT32, BASE_HEX});
  add(Derived::icrc_computed, {"icrc.computed", "Computed", FT_UINT32, BASE_HEX});
  add(Derived::icrc_status, {"icrc.status", "Invariant CRC Status", FT_UINT8, BASE_NONE, proto_checksum_vals});
  add(Derived::icrc_ip_id,
      {"icrc.ip_id", "IP Identification", FT_UINT16, BASE_HEX, nullptr, 0, "The one that makes the ICRC right"});
  add(Derived::icrc_unchecked, {"icrc.unchecked", "Not Checked", FT_UINT8, BASE_DEC, names(kUncheckedNames)});
  add(Derived::segment, {"segment", "Packet of a Super-frame", FT_UINT32, BASE_DEC});
  add(Derived::segment_count, {"segments", "Packets in the Super-frame", FT_UINT32, BASE_DEC});
  add(Derived::problem, {"problem", "Problem", FT_STRING, BASE_NONE});
  all.add(registered.icrc_explanation, {"icrc.explanation", "Explanation", FT_STRING, BASE_NONE});
}

void add_reassembly() {
  Registry& all = registry();
  all.add(registered.reassembled, {"reassembled", "Reassembled Message"});
  all.add(registered.reassembled_packet, {"reassembled.packet", "Packet in Frame", FT_FRAMENUM, BASE_NONE});
  all.add(registered.reassembled_length, {"reassembled.length", "Length", FT_UINT32, BASE_DEC});
  all.add(registered.reassembled_data, {"reassembled.data", "Data", FT_BYTES, BASE_NONE});
  all.add(registered.reassembled_in, {"reassembled.in", "Reassembled in Frame", FT_FRAMENUM, BASE_NONE});
  all.add_tree(registered.reassembled_tree);
}

std::vector<ValueName> verdict_names() {
  std::vector<ValueName> names;
  for (const analysis::VerdictInfo& info : analysis::verdict_infos()) {
    names.push_back({static_cast<std::uint64_t>(info.kind), info.name});
  }
  return names;
}

std::vector<ValueName> cause_names() {
  std::vector<ValueName> names;
  for (std::size_t i = 1; i <= static_cast<std::size_t>(analysis::Cause::corrupted); ++i) {
    names.push_back({i, to_string(static_cast<analysis::Cause>(i))});
  }
  return names;
}

int expert_severity(analysis::Severity severity) {
  switch (severity) {
    case analysis::Severity::note:
      return PI_NOTE;
    case analysis::Severity::warning:
      return PI_WARN;
    case analysis::Severity::error:
      return PI_ERROR;
  }
  return PI_ERROR;
}

/// Registers the fields that lead from a packet to others.
void add_links() {
  using enum AnalysisField;
  const auto add = [](AnalysisField id, const Registry::Row& row) {
    registry().add(registered.analysis[static_cast<std::size_t>(id)], row);
  };
  const auto link = [&](AnalysisField id, std::string_view name, std::string_view title, std::string_view blurb) {
    add(id, {std::string{name}, title, FT_FRAMENUM, BASE_NONE, nullptr, 0, blurb});
  };
  link(sent_before, "analysis.sent_before", "Sent before in", "The transmission before this one");
  link(sent_again, "analysis.sent_again", "Sent again in",
       "The next transmission; for a NAK, the first packet that was sent again because of it");
  link(nak_in, "analysis.nak_in", "NAK in", "It asked for this packet, or for what was missing before this packet");
  link(gap_in, "analysis.gap_in", "Missing before",
       "The packet before which this one, or what it asks for, was missing");
  link(gap_filled, "analysis.gap_filled", "Missing Packet in", "The first packet that was missing before this one");
  link(cm_request, "cm.request_in", "Connection Request in", "The REQ, or the first message that was seen");
  link(cm_before, "cm.previous", "Previous Message of the Connection", "");
  link(cm_next, "cm.next", "Next Message of the Connection", "");
  link(cnp_in, "analysis.cnp_in", "Reported by the CNP in", "");
  link(first_mark, "analysis.first_mark", "First CE Mark in", "Since the CNP before");
  add(marks, {"analysis.marks", "CE Marks", FT_UINT32, BASE_DEC, nullptr, 0, "Since the CNP before"});
  add(mark_to_cnp, {"analysis.mark_to_cnp", "Time since the first CE Mark", FT_RELATIVE_TIME, BASE_NONE});
  add(rate_before, {"analysis.rate_before", "Rate before the CNP [Gbit/s]", FT_DOUBLE, BASE_NONE, nullptr, 0,
                    "Of the sender's data frames, in the millisecond before"});
  add(rate_after, {"analysis.rate_after", "Rate after the CNP [Gbit/s]", FT_DOUBLE, BASE_NONE, nullptr, 0,
                   "Of the sender's data frames, in the millisecond after: its reaction"});
}

void add_analysis() {
  Registry& all = registry();
  const auto add = [&](AnalysisField id, const Registry::Row& row) {
    all.add(registered.analysis[static_cast<std::size_t>(id)], row);
  };
  using enum AnalysisField;
  add(tree, {"analysis", "RoCE Analysis"});
  add(stream, {"stream", "Stream Index", FT_UINT32, BASE_DEC});
  add(direction,
      {"analysis.direction", "Direction", FT_UINT8, BASE_DEC, nullptr, 0, "0: as the stream's first packet"});
  add(source,
      {"analysis.source", "Source", FT_STRING, BASE_NONE, nullptr, 0, "Address and QP number, as far as known"});
  add(destination, {"analysis.destination", "Destination", FT_STRING, BASE_NONE, nullptr, 0, "Address and QP number"});
  add(end, {"analysis.end", "Source or Destination", FT_STRING, BASE_NONE});
  constexpr std::string_view kNumbered = "With the number of the stream, as Conversations shows it";
  add(numbered_source,
      {"analysis.numbered_source", "Source in Conversations", FT_STRING, BASE_NONE, nullptr, 0, kNumbered});
  add(numbered_destination,
      {"analysis.numbered_destination", "Destination in Conversations", FT_STRING, BASE_NONE, nullptr, 0, kNumbered});
  add(numbered_end, {"analysis.numbered_end", "End in Conversations", FT_STRING, BASE_NONE, nullptr, 0, kNumbered});
  add(role, {"analysis.role", "Role", FT_UINT8, BASE_DEC, all.keep_names(kRoleNames)});
  add(relative_psn, {"analysis.relative_psn", "Relative PSN", FT_INT64, BASE_DEC, nullptr, 0,
                     "From the first PSN of its requester that was seen, across wraps"});
  add(message, {"analysis.message", "Message", FT_UINT64, BASE_DEC, nullptr, 0, "Of its direction, from 1"});
  add(message_first, {"analysis.message_first", "First Packet of the Message", FT_FRAMENUM, BASE_NONE});
  add(packet, {"analysis.packet", "Packet of the Message", FT_UINT32, BASE_DEC, nullptr, 0, "From 1, by its PSN"});
  add(packets,
      {"analysis.packets", "Packets of the Message", FT_UINT32, BASE_DEC, nullptr, 0, "For a READ, of the response"});
  add(in_flight, {"analysis.in_flight", "PSNs in Flight", FT_UINT32, BASE_DEC, nullptr, 0,
                  "Sent and not answered, with this packet, at the capture point"});
  add(credits_left, {"analysis.credits_left", "Credits left", FT_UINT16, BASE_DEC, nullptr, 0,
                     "Messages that the requester may still begin, at the capture point"});
  add(base_round_trip, {"analysis.base_round_trip", "Base Round Trip", FT_RELATIVE_TIME, BASE_NONE, nullptr, 0,
                        "Shortest time from a request of this requester to its answer, at the capture point"});
  add(since_last, {"analysis.since_last", "Time since the Stream's last Packet", FT_RELATIVE_TIME, BASE_NONE});
  add(request, {"analysis.request", "Answer to", FT_FRAMENUM, BASE_NONE, FRAMENUM_TYPE(FT_FRAMENUM_REQUEST)});
  add(response, {"analysis.response", "Answered in", FT_FRAMENUM, BASE_NONE, FRAMENUM_TYPE(FT_FRAMENUM_RESPONSE)});
  add(latency, {"analysis.latency", "Latency", FT_RELATIVE_TIME, BASE_NONE});
  add_links();
  add(verdict, {"analysis.verdict", "Verdict", FT_UINT8, BASE_DEC, all.keep_names(verdict_names())});
  add(verdict_name, {"analysis.verdict_name", "Name of the Verdict", FT_STRING, BASE_NONE});
  add(text, {"analysis.text", "Meaning", FT_STRING, BASE_NONE});
  add(rule, {"analysis.rule", "Rule", FT_STRING, BASE_NONE, nullptr, 0, "Which rule of the protocol it breaks"});
  add(cause, {"analysis.cause", "Cause", FT_UINT8, BASE_DEC, all.keep_names(cause_names())});
  add(cause_name, {"analysis.cause_name", "Name of the Cause", FT_STRING, BASE_NONE});
  add(spurious, {"analysis.spurious", "Spurious", FT_BOOLEAN, BASE_NONE});
  add(other, {"analysis.other", "Because of", FT_FRAMENUM, BASE_NONE});
  add(first_psn, {"analysis.first_psn", "First PSN", FT_UINT24, BASE_DEC});
  add(psn_count, {"analysis.psn_count", "PSNs", FT_UINT32, BASE_DEC});
  add(elapsed, {"analysis.elapsed", "Since then", FT_RELATIVE_TIME, BASE_NONE});
  add(tries, {"analysis.tries", "Tries", FT_UINT32, BASE_DEC, nullptr, 0,
              "How many times it was sent, or was refused by RNR NAKs"});
  add(about, {"analysis.about", "This tells of", FT_FRAMENUM, BASE_NONE, nullptr, 0,
              "An earlier packet about which this one makes something certain"});
  all.add_tree(registered.analysis_tree);
  all.add_tree(registered.verdict_tree);
  for (const analysis::VerdictInfo& info : analysis::verdict_infos()) {
    all.add_expert(registered.verdict[static_cast<std::size_t>(info.kind)], "analysis." + std::string{info.name},
                   PI_SEQUENCE, expert_severity(info.severity),
                   std::string{verdict_mark(info.kind).c_str()} + ": " + std::string{info.text});
  }
}

}  // namespace

void register_fields() {
  Registry& all = registry();
  registered.proto = proto_register_protocol("RDMA over Converged Ethernet", "RoCE", "roce");
  registered.header.fill(-1);
  registered.header_tree.fill(-1);
  all.add_tree(registered.tree);
  add_table();
  add_derived();
  add_reassembly();
  add_analysis();
  all.add_expert(registered.icrc_bad, "icrc.bad", PI_CHECKSUM, PI_ERROR, "Bad ICRC: the receiver drops this packet");
  all.add_expert(registered.malformed, "malformed", PI_MALFORMED, PI_ERROR, "Malformed RoCE packet");
  all.add_expert(registered.cut_short, "cut_short", PI_UNDECODED, PI_NOTE,
                 "The capture has only a part of this packet");
  all.add_expert(registered.builtin_filter, "builtin_filter", PI_COMMENTS_GROUP, PI_NOTE,
                 "A field of the built-in dissector matches no RoCE packet");
  all.register_all(registered.proto);
}

const Fields& fields() {
  return registered;
}

Fields& mutable_fields() {
  return registered;
}

}  // namespace roce::plugin
