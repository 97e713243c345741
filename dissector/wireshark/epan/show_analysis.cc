// SPDX-License-Identifier: GPL-2.0-or-later
#include "wireshark/epan/show_analysis.h"

#include <optional>

#include "roce/analysis/congestion.h"
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
  /// Adds an end of the stream as Conversations shows it, for filters alone.
  void numbered_end(AnalysisField id, const StreamEnd& end, std::uint32_t stream) const {
    for (const AnalysisField field : {id, AnalysisField::numbered_end}) {
      if (!is_asked_for(field)) continue;
      const Text text = numbered_end_text(end.address, end.qpn, stream);
      proto_item_set_hidden(done(proto_tree_add_string(tree_, fields().of(field), tvb_, 0, 0, text.c_str())));
    }
  }
  /// Adds the name of a number, for formats that show the number alone; in the tree the number has it already.
  void name(AnalysisField id, const Text& value) const {
    if (!is_wanted(id)) return;
    proto_item_set_hidden(done(proto_tree_add_string(tree_, fields().of(id), tvb_, 0, 0, value.c_str())));
  }
  void real(AnalysisField id, double value) const {
    if (is_wanted(id)) done(proto_tree_add_double(tree_, fields().of(id), tvb_, 0, 0, value));
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
  const Text mark = verdict_mark(verdict.kind);
  expert_add_info_format(pinfo, item, &mutable_fields().verdict[static_cast<std::size_t>(verdict.kind)], "%s: %s",
                         mark.c_str(), text.c_str());
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
  writer.name(AnalysisField::verdict_name, verdict_name(verdict.kind));
  writer.string(AnalysisField::text, text);
  if (verdict.rule != analysis::Rule::none) writer.string(AnalysisField::rule, rule_text(verdict.rule));
  if (verdict.cause != analysis::Cause::none) {
    writer.number(AnalysisField::cause, static_cast<std::uint32_t>(verdict.cause));
    writer.name(AnalysisField::cause_name, cause_name(verdict.cause));
  }
  if (verdict.spurious) writer.truth(AnalysisField::spurious);
  writer.frame(AnalysisField::other, verdict.other);
  writer.number(AnalysisField::first_psn, verdict.first_psn.value());
  writer.number(AnalysisField::psn_count, verdict.psn_count);
  if (verdict.elapsed != Duration{}) writer.duration(AnalysisField::elapsed, verdict.elapsed);
  if (verdict.tries != 0) writer.number(AnalysisField::tries, verdict.tries);
}

void show_message(const AnalysisWriter& writer, const CaptureAnalysis& analysis, const PacketFacts& facts) {
  const std::optional<MessagePlace> place = analysis.message_of(facts);
  if (!place) return;
  if (place->number != 0) writer.number64(AnalysisField::message, place->number);
  writer.frame(AnalysisField::message_first, place->first);
  if (place->packets == 1) return;
  writer.number(AnalysisField::packet, place->packet);
  if (place->packets != 0) writer.number(AnalysisField::packets, place->packets);
}

void show_window(const AnalysisWriter& writer, const CaptureAnalysis& analysis, const PacketFacts& facts) {
  const RequestWindows::Window* const window = analysis.window_of(analysis.channel_of(facts));
  if (window == nullptr) return;
  // A capture of one direction alone does not show what was answered.
  if (facts.in_flight != 0 && window->is_answered) writer.number(AnalysisField::in_flight, facts.in_flight);
  if (facts.credits_left) writer.number(AnalysisField::credits_left, *facts.credits_left);
  const bool has_latency = facts.request || facts.response;
  if (has_latency && window->base_round_trip != Duration{}) {
    writer.duration(AnalysisField::base_round_trip, window->base_round_trip);
  }
}

void show_loss_links(const AnalysisWriter& writer, const CaptureAnalysis& analysis, const PacketFacts& facts) {
  const LossLinks::Links* const links = analysis.loss_links().find(facts.id);
  if (links == nullptr) return;
  writer.frame(AnalysisField::sent_before, links->sent_before);
  writer.frame(AnalysisField::sent_again, links->sent_again);
  writer.frame(AnalysisField::nak_in, links->nak);
  writer.frame(AnalysisField::gap_in, links->gap);
  writer.frame(AnalysisField::gap_filled, links->filled);
}

double gigabits_per_second(std::uint64_t bytes) {
  constexpr double kBits = 8;
  return kBits * static_cast<double>(bytes) / static_cast<double>(analysis::kReactionWindow.count());
}

void show_congestion(const AnalysisWriter& writer, const CaptureAnalysis& analysis, const PacketFacts& facts) {
  writer.frame(AnalysisField::cnp_in, analysis.congestion_links().cnp_for_mark(facts.id));
  const CongestionLinks::Cnp* const cnp = analysis.congestion_links().find_cnp(facts.id);
  if (cnp == nullptr) return;
  writer.frame(AnalysisField::first_mark, cnp->first_mark);
  writer.number(AnalysisField::marks, cnp->marks);
  if (cnp->first_mark) writer.duration(AnalysisField::mark_to_cnp, cnp->since_mark);
  if (!cnp->is_measured) return;
  writer.real(AnalysisField::rate_before, gigabits_per_second(cnp->bytes_before));
  writer.real(AnalysisField::rate_after, gigabits_per_second(cnp->bytes_after));
}

void show_cm_links(const AnalysisWriter& writer, const CaptureAnalysis& analysis, const PacketFacts& facts) {
  const CmLinks::Links links = analysis.cm_links().find(facts.id);
  writer.frame(AnalysisField::cm_request, links.request);
  writer.frame(AnalysisField::cm_before, links.before);
  writer.frame(AnalysisField::cm_next, links.next);
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
    const StreamEnd source = analysis.end_of(facts.stream, facts.direction);
    const StreamEnd destination = analysis.end_of(facts.stream, facts.direction == 0 ? 1 : 0);
    writer.end(AnalysisField::source, source);
    writer.end(AnalysisField::destination, destination);
    writer.numbered_end(AnalysisField::numbered_source, source, facts.stream);
    writer.numbered_end(AnalysisField::numbered_destination, destination, facts.stream);
    writer.number(AnalysisField::role, static_cast<std::uint32_t>(facts.role));
    const bool in_channel = !facts.is_damaged && (facts.role == analysis::PacketRole::request ||
                                                  facts.role == analysis::PacketRole::response);
    if (in_channel) writer.integer(AnalysisField::relative_psn, facts.relative_psn);
    if (in_channel) {
      show_message(writer, analysis, facts);
      show_window(writer, analysis, facts);
    }
    writer.duration(AnalysisField::since_last, facts.since_last);
    writer.frame(AnalysisField::request, facts.request);
    writer.frame(AnalysisField::response, facts.response);
    if (facts.request || facts.response) writer.duration(AnalysisField::latency, facts.latency);
    if (in_channel) show_loss_links(writer, analysis, facts);
    show_congestion(writer, analysis, facts);
  }
  show_cm_links(writer, analysis, facts);
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
