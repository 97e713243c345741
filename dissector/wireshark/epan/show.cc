// SPDX-License-Identifier: GPL-2.0-or-later
#include "wireshark/epan/show.h"

#include "wireshark/epan/fields.h"
#include "wireshark/epan/show_analysis.h"
#include "wireshark/parts/dissect.h"
#include "wireshark/parts/text.h"

namespace roce::plugin {

namespace {

constexpr double kMicrosecondsPerMillisecond = 1e3;
constexpr double kPicosecondsPerMicrosecond = 1e6;

void report_problem(packet_info* pinfo, proto_item* item, ParseReason reason, const Text& text) {
  // An ICMP error quotes the beginning of a packet.
  const bool is_cut =
      reason == ParseReason::cut_short || reason == ParseReason::fragment || pinfo->flags.in_error_pkt != 0;
  Fields& all = mutable_fields();
  expert_add_info_format(pinfo, item, is_cut ? &all.cut_short : &all.malformed, "%s", text.c_str());
}

/// Adds the records of one packet to its tree, in their order.
class TreeWriter {
 public:
  TreeWriter(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, const ShownPacket& shown)
      : tvb_(tvb), pinfo_(pinfo), root_(tree), tree_(tree), visible_(PTREE_DATA(tree)->visible != 0), shown_(shown) {}

  void add(const Record& record) {
    switch (record.kind) {
      case RecordKind::header:
        return add_header(record);
      case RecordKind::field:
        if (const int field = fields().field[record.id]; is_wanted(field)) {
          proto_tree_add_item(tree_, field, tvb_, place(record), size(record), fields().encoding[record.id]);
        }
        return;
      case RecordKind::derived:
        return add_derived(record);
      case RecordKind::end:
        tree_ = root_;
        return;
    }
  }

 private:
  /// True if anything uses the field: asking costs far less than adding an item.
  [[nodiscard]] bool is_wanted(int field) const { return visible_ || proto_field_is_referenced(root_, field) != 0; }
  [[nodiscard]] int place(const Record& record) const {
    return static_cast<int>(shown_.base + record.offset - shown_.tvb_base);
  }
  [[nodiscard]] static int size(const Record& record) { return static_cast<int>(record.size); }

  void add_header(const Record& record) {
    if (!is_wanted(fields().header[record.id])) return;
    proto_item* const item =
        proto_tree_add_item(root_, fields().header[record.id], tvb_, place(record), size(record), ENC_NA);
    if (!visible_) return;
    tree_ = proto_item_add_subtree(item, fields().header_tree[record.id]);
    const Text text = header_text(shown_.packet, static_cast<HeaderId>(record.id));
    if (!text.empty()) proto_item_append_text(item, ", %s", text.c_str());
  }

  void add_derived(const Record& record) {
    const auto id = static_cast<Derived>(record.id);
    const int field = fields().of(id);
    proto_item* item = nullptr;
    if (id != Derived::icrc_status && id != Derived::problem && !is_wanted(field)) return;
    switch (id) {
      case Derived::payload:
        item = proto_tree_add_item(tree_, field, tvb_, place(record), size(record), ENC_NA);
        if (record.value != record.size) {
          proto_item_append_text(item, " (%u of %u bytes)", record.size, static_cast<unsigned>(record.value));
        }
        return;
      case Derived::pad:
      case Derived::mad_data:
      case Derived::private_data:
        proto_tree_add_item(tree_, field, tvb_, place(record), size(record), ENC_NA);
        return;
      case Derived::opcode_name:
        return add_name(record, opcode_text(static_cast<Opcode>(record.value)));
      case Derived::aeth_name:
        return add_name(record, syndrome_text(AethSyndrome{static_cast<std::uint8_t>(record.value)}));
      case Derived::cma_source:
      case Derived::cma_destination:
        item = proto_tree_add_ipv4(tree_, field, tvb_, place(record), size(record), static_cast<guint32>(record.value));
        break;
      case Derived::icrc:
        return add_icrc(record);
      case Derived::icrc_status:
        return add_icrc_status();
      case Derived::aeth_rnr_us:
        item = proto_tree_add_double(tree_, field, tvb_, place(record), size(record),
                                     static_cast<double>(record.value) / kMicrosecondsPerMillisecond);
        break;
      case Derived::pause_ps:
        item = proto_tree_add_double(tree_, field, tvb_, place(record), size(record),
                                     static_cast<double>(record.value) / kPicosecondsPerMicrosecond);
        break;
      case Derived::problem:
        return add_problem(record);
      default:
        if (tree_ == root_ && icrc_tree_ != nullptr) {
          item = proto_tree_add_uint(icrc_tree_, field, tvb_, 0, 0, static_cast<guint32>(record.value));
        } else {
          item = proto_tree_add_uint(tree_, field, tvb_, record.size != 0 ? place(record) : 0, size(record),
                                     static_cast<guint32>(record.value));
        }
    }
    proto_item_set_generated(item);
  }

  /// Adds the name of a number, for formats that show the number alone; in the tree the number has it already.
  void add_name(const Record& record, const Text& name) {
    proto_item* const item = proto_tree_add_string(tree_, fields().of(static_cast<Derived>(record.id)), tvb_,
                                                   place(record), size(record), name.c_str());
    proto_item_set_generated(item);
    proto_item_set_hidden(item);
  }

  [[nodiscard]] proto_checksum_enum_e checksum_status() const {
    switch (shown_.icrc.status) {
      case IcrcStatus::good:
      case IcrcStatus::good_for_ip_id:
        return PROTO_CHECKSUM_E_GOOD;
      case IcrcStatus::bad:
        return PROTO_CHECKSUM_E_BAD;
      default:
        return PROTO_CHECKSUM_E_UNVERIFIED;
    }
  }

  void add_icrc(const Record& record) {
    const int field = fields().of(Derived::icrc);
    const auto value = static_cast<guint32>(record.value);
    if (!visible_) {
      icrc_item_ = proto_tree_add_uint(tree_, field, tvb_, place(record), size(record), value);
      return;
    }
    const proto_checksum_enum_e status = checksum_status();
    const char* const word = status == PROTO_CHECKSUM_E_GOOD  ? "correct"
                             : status == PROTO_CHECKSUM_E_BAD ? "incorrect"
                                                              : "unverified";
    icrc_item_ = proto_tree_add_uint_format(tree_, field, tvb_, place(record), size(record), value,
                                            "Invariant CRC: 0x%08x [%s]", value, word);
  }

  void add_icrc_status() {
    const IcrcStatus status = shown_.icrc.status;
    if (status != IcrcStatus::bad && !is_wanted(fields().of(Derived::icrc_status))) return;
    icrc_tree_ = icrc_item_ != nullptr
                     ? proto_item_add_subtree(icrc_item_, fields().header_tree[static_cast<std::size_t>(HeaderId::bth)])
                     : root_;
    proto_item* const item =
        proto_tree_add_uint(icrc_tree_, fields().of(Derived::icrc_status), tvb_, 0, 0, checksum_status());
    proto_item_set_generated(item);
    if (status != IcrcStatus::bad) return;
    expert_add_info(pinfo_, item, &mutable_fields().icrc_bad);
    // The search for an explanation takes as long as a thousand ICRC checks.
    if (!is_wanted(fields().icrc_explanation)) return;
    const Text text = icrc_text(shown_.packet, shown_.icrc, shown_.base);
    proto_item* const explanation =
        proto_tree_add_string(icrc_tree_, fields().icrc_explanation, tvb_, 0, 0, text.c_str());
    proto_item_set_generated(explanation);
  }

  void add_problem(const Record& record) {
    const Text text = problem_text(shown_.packet);
    proto_item* const item = proto_tree_add_string(root_, fields().of(Derived::problem), tvb_, 0, 0, text.c_str());
    proto_item_set_generated(item);
    report_problem(pinfo_, item, static_cast<ParseReason>(record.value), text);
  }

  tvbuff_t* tvb_;
  packet_info* pinfo_;
  proto_tree* root_;
  proto_tree* tree_;
  bool visible_;
  proto_item* icrc_item_ = nullptr;
  proto_tree* icrc_tree_ = nullptr;
  const ShownPacket& shown_;
};

}  // namespace

void show_tree(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, const ShownPacket& shown,
               const RecordList& records) {
  const Packet& packet = shown.packet;
  const std::uint32_t start =
      shown.base + (packet.version() == RoceVersion::v1 ? packet.network_offset() : packet.bth_offset());
  const auto end = static_cast<std::uint32_t>(shown.base + packet.bytes().size() - packet.trailer().size());
  proto_item* const item = proto_tree_add_item(tree, fields().proto, tvb, static_cast<int>(start - shown.tvb_base),
                                               static_cast<int>(end - start), ENC_NA);
  proto_tree* const root = proto_item_add_subtree(item, fields().tree);
  if (PTREE_DATA(root)->visible) {
    const Text text = header_text(packet, HeaderId::bth);
    proto_item_set_text(item, "%s, %s", proto_registrar_get_name(fields().proto), text.c_str());
    if (shown.segment != 0) {
      proto_item_append_text(item, ", packet %u of %u in this frame", shown.segment, shown.segment_count);
    }
  }
  TreeWriter writer{tvb, pinfo, root, shown};
  for (const Record& record : records.records()) writer.add(record);
  if (shown.facts != nullptr) show_analysis(tvb, pinfo, root, *shown.analysis, *shown.facts);
}

void show_flow_control_tree(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, const ShownPacket& shown,
                            const RecordList& records) {
  proto_item* const item = proto_tree_add_item(tree, fields().proto, tvb, 0, -1, ENC_NA);
  proto_tree* const root = proto_item_add_subtree(item, fields().tree);
  if (PTREE_DATA(root)->visible) {
    const Text text = packet_text(shown.packet);
    proto_item_append_text(item, ",%s", text.c_str());
  }
  TreeWriter writer{tvb, pinfo, root, shown};
  for (const Record& record : records.records()) writer.add(record);
  if (shown.facts != nullptr) show_analysis(tvb, pinfo, root, *shown.analysis, *shown.facts);
}

void show_header(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, const Packet& packet, std::uint32_t offset) {
  if (tree == nullptr) return;
  const IcrcVerdict icrc{};
  const ShownPacket shown{.packet = packet, .icrc = icrc, .base = 0, .tvb_base = offset};
  RecordList records;
  add_header_records(packet, offset, records);
  proto_item* const item = proto_tree_add_item(tree, fields().proto, tvb, 0, -1, ENC_NA);
  TreeWriter writer{tvb, pinfo, proto_item_add_subtree(item, fields().tree), shown};
  for (const Record& record : records.records()) writer.add(record);
}

void report_experts(packet_info* pinfo, const ShownPacket& shown) {
  if (shown.icrc.status == IcrcStatus::bad) expert_add_info(pinfo, nullptr, &mutable_fields().icrc_bad);
  if (const ParseReason reason = shown.packet.problem().reason; reason != ParseReason::none) {
    const Text text = problem_text(shown.packet);
    report_problem(pinfo, nullptr, reason, text);
  }
  if (shown.facts != nullptr) report_verdicts(pinfo, *shown.analysis, *shown.facts);
}

void show_columns(packet_info* pinfo, const ShownPacket& shown, const Marks& marks) {
  col_set_str(pinfo->cinfo, COL_PROTOCOL, shown.packet.version() == RoceVersion::v1 ? "RoCEv1" : "RoCEv2");
  if (pinfo->cinfo == nullptr || !col_get_writable(pinfo->cinfo, COL_INFO)) return;
  const Text text = packet_text(shown.packet, marks);
  col_add_str(pinfo->cinfo, COL_INFO, text.c_str());
  const bool is_bad = shown.icrc.status == IcrcStatus::bad;
  if (is_bad && !marks.has_bad_icrc()) col_append_str(pinfo->cinfo, COL_INFO, "  [ICRC bad]");
  if (shown.segment_count != 0) col_append_fstr(pinfo->cinfo, COL_INFO, "  [first of %u packets]", shown.segment_count);
}

void show_marks(packet_info* pinfo, const Marks& marks) {
  if (pinfo->cinfo == nullptr) return;
  const Text text = marks.text();
  if (!text.empty()) col_prepend_fstr(pinfo->cinfo, COL_INFO, "%s", text.c_str());
}

}  // namespace roce::plugin
