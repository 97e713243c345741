// SPDX-License-Identifier: GPL-2.0-or-later
#include "wireshark/epan/show_analysis.h"

#include "wireshark/epan/fields.h"
#include "wireshark/parts/text.h"

namespace roce::plugin {

namespace {

using analysis::PacketId;
using analysis::Verdict;

/// Adds generated items: items that do not belong to any bytes.
class AnalysisWriter {
 public:
  AnalysisWriter(tvbuff_t* tvb, proto_tree* tree) : tvb_(tvb), tree_(tree) {}

  /// True if anything uses the field: asking costs far less than adding an item.
  [[nodiscard]] bool is_wanted(AnalysisField id) const {
    return proto_field_is_referenced(tree_, fields().of(id)) != 0;
  }

  /// True if a filter or a list of fields names the field: in a visible tree `is_wanted` is true for hidden items too.
  [[nodiscard]] static bool is_asked_for(AnalysisField id) {
    return proto_registrar_get_nth(static_cast<guint>(fields().of(id)))->ref_type != HF_REF_TYPE_NONE;
  }

  proto_item* number(AnalysisField id, std::uint32_t value) const {
    if (!is_wanted(id)) return nullptr;
    return done(proto_tree_add_uint(tree_, fields().of(id), tvb_, 0, 0, value));
  }
  void number64(AnalysisField id, std::uint64_t value) const {
    if (!is_wanted(id)) return;
    done(proto_tree_add_uint64(tree_, fields().of(id), tvb_, 0, 0, value));
  }
  void integer(AnalysisField id, std::int64_t value) const {
    if (!is_wanted(id)) return;
    done(proto_tree_add_int64(tree_, fields().of(id), tvb_, 0, 0, value));
  }
  void string(AnalysisField id, const Text& value) const {
    if (is_wanted(id)) done(proto_tree_add_string(tree_, fields().of(id), tvb_, 0, 0, value.c_str()));
  }
  /// Adds an end of the stream under its name and, for filters alone, as one of the two.
  void end(AnalysisField id, const StreamEnd& end) const {
    const bool is_named = is_asked_for(AnalysisField::end);
    if (!is_named && !is_wanted(id)) return;
    const Text text = end_text(end.address, end.qpn);
    if (is_named) {
      proto_item_set_hidden(
          done(proto_tree_add_string(tree_, fields().of(AnalysisField::end), tvb_, 0, 0, text.c_str())));
    }
    string(id, text);
  }
  void truth(AnalysisField id) const {
    if (is_wanted(id)) done(proto_tree_add_boolean(tree_, fields().of(id), tvb_, 0, 0, TRUE));
  }
  /// Adds the field of a verdict, for filters alone.
  void mark(analysis::VerdictKind kind) const {
    const int field = fields().verdict[static_cast<std::size_t>(kind)].hf;
    if (proto_field_is_referenced(tree_, field) == 0) return;
    proto_item_set_hidden(done(proto_tree_add_item(tree_, field, tvb_, 0, 0, ENC_NA)));
  }
  void frame(AnalysisField id, PacketId packet) const {
    if (packet) number(id, static_cast<std::uint32_t>(packet.frame));
  }
  void duration(AnalysisField id, Duration value) const {
    if (!is_wanted(id)) return;
    constexpr std::int64_t kSecond = 1'000'000'000;
    nstime_t time;
    time.secs = static_cast<time_t>(value.count() / kSecond);
    time.nsecs = static_cast<int>(value.count() % kSecond);
    done(proto_tree_add_time(tree_, fields().of(id), tvb_, 0, 0, &time));
  }

 private:
  static proto_item* done(proto_item* item) {
    proto_item_set_generated(item);
    return item;
  }

  tvbuff_t* tvb_;
  proto_tree* tree_;
};

/// Adds a verdict as expert information, unless it repeats the one for a bad ICRC, which the packet has already.
void report(packet_info* pinfo, proto_item* item, const Verdict& verdict, const Text& text) {
  if (verdict.kind == analysis::VerdictKind::bad_icrc) return;
  expert_add_info_format(pinfo, item, &mutable_fields().verdict[static_cast<std::size_t>(verdict.kind)], "%s",
                         text.c_str());
}

void show_verdict(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, const Verdict& verdict) {
  const AnalysisWriter parent{tvb, tree};
  proto_item* const item = parent.number(AnalysisField::verdict, static_cast<std::uint32_t>(verdict.kind));
  proto_tree* const inner = item != nullptr ? proto_item_add_subtree(item, fields().verdict_tree) : tree;
  const Text text = verdict_text(verdict);
  report(pinfo, inner, verdict, text);
  const AnalysisWriter writer{tvb, inner};
  // The expert information is not reported, but its field remains a filter.
  if (verdict.kind == analysis::VerdictKind::bad_icrc) writer.mark(verdict.kind);
  writer.string(AnalysisField::text, text);
  if (verdict.rule != analysis::Rule::none) writer.string(AnalysisField::rule, rule_text(verdict.rule));
  if (verdict.cause != analysis::Cause::none) {
    writer.number(AnalysisField::cause, static_cast<std::uint32_t>(verdict.cause));
  }
  if (verdict.spurious) writer.truth(AnalysisField::spurious);
  writer.frame(AnalysisField::other, verdict.other);
  writer.number(AnalysisField::first_psn, verdict.first_psn.value());
  writer.number(AnalysisField::psn_count, verdict.psn_count);
  if (verdict.elapsed != Duration{}) writer.duration(AnalysisField::elapsed, verdict.elapsed);
}

}  // namespace

void show_analysis(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, const CaptureAnalysis& analysis,
                   const PacketFacts& facts) {
  proto_item* const item = proto_tree_add_item(tree, fields().of(AnalysisField::tree), tvb, 0, 0, ENC_NA);
  proto_item_set_generated(item);
  proto_tree* const inner = proto_item_add_subtree(item, fields().analysis_tree);
  const AnalysisWriter writer{tvb, inner};
  if (facts.stream != analysis::kNoStream) {
    writer.number(AnalysisField::stream, facts.stream);
    writer.number(AnalysisField::direction, facts.direction);
    writer.end(AnalysisField::source, analysis.end_of(facts.stream, facts.direction));
    writer.end(AnalysisField::destination, analysis.end_of(facts.stream, facts.direction == 0 ? 1 : 0));
    writer.number(AnalysisField::role, static_cast<std::uint32_t>(facts.role));
    const bool in_channel = facts.role == analysis::PacketRole::request || facts.role == analysis::PacketRole::response;
    if (in_channel) writer.integer(AnalysisField::relative_psn, facts.relative_psn);
    if (facts.message != 0) writer.number64(AnalysisField::message, facts.message);
    writer.frame(AnalysisField::message_first, facts.message_first);
    writer.duration(AnalysisField::since_last, facts.since_last);
    writer.frame(AnalysisField::request, facts.request);
    writer.frame(AnalysisField::response, facts.response);
    if (facts.request || facts.response) writer.duration(AnalysisField::latency, facts.latency);
  }
  for (std::uint32_t i = facts.verdicts; i != 0; i = analysis.verdict(i).next) {
    show_verdict(tvb, pinfo, inner, analysis.verdict(i).verdict);
  }
  for (std::uint32_t i = facts.learned; i != 0; i = analysis.learned(i).next) {
    const Verdict& verdict = analysis.verdict(analysis.learned(i).verdict).verdict;
    proto_item* const about = writer.number(AnalysisField::about, static_cast<std::uint32_t>(verdict.packet.frame));
    const Text text = verdict_text(verdict);
    const Text mark = verdict_mark(verdict.kind);
    proto_item_append_text(about, ": %s: %s", mark.c_str(), text.c_str());
  }
}

void report_verdicts(packet_info* pinfo, const CaptureAnalysis& analysis, const PacketFacts& facts) {
  for (std::uint32_t i = facts.verdicts; i != 0; i = analysis.verdict(i).next) {
    const Verdict& verdict = analysis.verdict(i).verdict;
    const Text text = verdict_text(verdict);
    report(pinfo, nullptr, verdict, text);
  }
}

}  // namespace roce::plugin
