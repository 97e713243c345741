// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/summary_statements.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "analyze/run/connection_shares.h"
#include "analyze/run/dead_connections.h"
#include "analyze/run/loss_statements.h"
#include "analyze/run/never_worked.h"
#include "analyze/run/silent_hosts.h"
#include "analyze/run/size_statements.h"
#include "analyze/run/stream_figures.h"
#include "analyze/run/undelivered.h"
#include "text/human_units.h"

namespace roce::analyze {

namespace {

using analysis::Severity;
using analysis::StreamSummary;
using analysis::VerdictKind;
using text::counted;

/// Builds the statements about the packets of a part.
class PacketStatements {
 public:
  explicit PacketStatements(const JudgedPart& part) : part_(part), result_(part.result), verdicts_(part.verdicts) {
    connections_ = count_connections(part);
  }

  std::vector<Statement> make() && {
    // Causes come before what follows from them.
    std::vector<Statement> warnings;
    std::vector<Statement> notes;
    for (const auto& statements : {statements_about_silent_hosts(part_), statements_about_sizes(part_),
                                   statements_about_never_worked(part_), statements_about_undelivered(part_)}) {
      for (const Statement& each : statements) {
        (each.severity == Severity::error     ? statements_
         : each.severity == Severity::warning ? warnings
                                              : notes)
            .push_back(each);
      }
    }
    const std::vector<DeadConnection> dead = find_dead_connections(part_);
    add_dead(dead);
    add_seen_twice();
    add_refused();
    add_broken_rules();
    add_all(statements_about_losses(part_));
    add_perhaps_dead(dead);
    add_damaged();
    add_all(warnings);
    add_not_ready();
    add_overtaken();
    add_repeated();
    add_cm_repeated();
    add_all(notes);
    add_congestion();
    return std::move(statements_);
  }

 private:
  void add(Severity severity, std::string text) { statements_.push_back({severity, std::move(text)}); }
  void add_all(const std::vector<Statement>& more) { statements_.insert(statements_.end(), more.begin(), more.end()); }

  // Says how many connections came to this end, and describes the first few.
  void add_ends(const std::vector<DeadConnection>& dead, ConnectionEnd end, Severity severity, std::string_view text) {
    constexpr std::size_t kDescribed = 3;
    std::vector<const DeadConnection*> those;
    for (const DeadConnection& each : dead) {
      if (each.end == end) those.push_back(&each);
    }
    if (those.empty()) return;
    add(severity, fmt::format("{} of {} {}", text::count_text(those.size()),
                              counted(connections_, "connection", "connections"), text));
    for (std::size_t i = 0; i < std::min(those.size(), kDescribed); ++i) add(severity, those[i]->text);
  }

  void add_dead(const std::vector<DeadConnection>& dead) {
    add_ends(dead, ConnectionEnd::died, Severity::error,
             "died of silence: the application gets completion 12 (transport retry counter exceeded)");
    add_ends(dead, ConnectionEnd::refused_by_rnr, Severity::error,
             "died of RNR NAKs: the application gets completion 13 (RNR retry counter exceeded)");
    add_ends(dead, ConnectionEnd::died_or_unseen, Severity::error,
             "died of silence (completion 12, transport retry counter exceeded), or the answers alone are not in the "
             "capture");
    add_ends(dead, ConnectionEnd::unanswered, Severity::error,
             "had tried in vain when the capture ended, and may have died");
    const bool is_said =
        std::ranges::any_of(statements_, [](const Statement& each) { return each.cause == "host_silent"; });
    const auto text = is_said ? std::nullopt : common_host_text(dead, heard_hosts(part_));
    if (text) add(Severity::error, *text);
  }

  // A packet lost just before the capture ended leaves such a request, too.
  void add_perhaps_dead(const std::vector<DeadConnection>& dead) {
    add_ends(dead, ConnectionEnd::last_unanswered, Severity::warning,
             "may have died: its requester has no answer to its last request, as far as is seen here");
  }

  void add_seen_twice() {
    std::uint64_t packets = 0;
    for (const StreamSummary& stream : part_.streams) {
      packets += stream.directions[0].packets + stream.directions[1].packets;
    }
    const std::uint64_t copies = verdicts_.of(VerdictKind::duplicate).verdicts;
    // With every packet twice, half of all are copies.
    constexpr std::uint64_t kLeastPackets = 20;
    constexpr std::uint64_t kPercent = 40;
    if (packets < kLeastPackets || copies * 100 < packets * kPercent) return;
    add(Severity::warning,
        fmt::format("{} of {} are copies: the same traffic was captured twice (a mirror of both directions, or the "
                    "device any); capture one interface, or remove the copies with editcap -D 100",
                    text::count_text(copies), counted(packets, "packet", "packets")));
  }

  void add_refused() {
    std::vector<std::string> parts;
    for (const VerdictKind kind : kErrorNaks) {
      const std::uint64_t count = verdicts_.of(kind).verdicts;
      if (count != 0) parts.push_back(fmt::format("{} {}", text::count_text(count), verdict_info(kind).name));
    }
    if (parts.empty()) return;
    const auto is_refused = [](const StreamSummary& stream) { return error_naks(stream) != 0; };
    add(Severity::error, fmt::format("{}: {}",
                                     connections_that(part_, is_refused, "was broken off by an error NAK",
                                                      "were broken off by error NAKs"),
                                     fmt::join(parts, ", ")));
  }

  void add_broken_rules() {
    if (verdicts_.of(VerdictKind::rule_broken).verdicts == 0) return;
    std::vector<std::string> parts;
    for (const analysis::RuleInfo& info : analysis::rule_infos()) {
      const std::uint64_t count = verdicts_.of(info.rule);
      if (count != 0 && info.rule != analysis::Rule::pause)
        parts.push_back(fmt::format("{} {} ({})", text::count_text(count), info.identifier, info.text));
    }
    add(Severity::error, fmt::format("rules of the protocol are broken: {}", fmt::join(parts, ", ")));
  }

  void add_damaged() {
    const std::uint64_t count = result_.streams_passed_over || part_.point
                                    ? verdicts_.of(VerdictKind::bad_icrc).verdicts
                                    : result_.counts.icrc_bad;
    if (count == 0) return;
    add(Severity::error, fmt::format("{} a wrong ICRC: damaged on the way here, and dropped by the receiver",
                                     counted(count, "packet has", "packets have")));
  }

  void add_not_ready() {
    const std::uint64_t count = verdicts_.of(VerdictKind::rnr_nak).verdicts;
    if (count == 0) return;
    const auto was_not_ready = [](const StreamSummary& stream) { return stream.count(VerdictKind::rnr_nak) != 0; };
    add(Severity::warning,
        fmt::format("{}: {} (RNR NAK)",
                    connections_that(part_, was_not_ready, "found no receive posted", "found no receive posted"),
                    counted(count, "time", "times")));
  }

  // True if no loss is known that made the requesters send again.
  [[nodiscard]] bool nothing_was_lost() const {
    return verdicts_.losses.total() == 0 && verdicts_.of(VerdictKind::no_answer).verdicts == 0 &&
           verdicts_.of(VerdictKind::response_not_in_time).verdicts == 0;
  }

  [[nodiscard]] std::uint64_t overtaken() const {
    return verdicts_.of(VerdictKind::out_of_order).packets + verdicts_.of(VerdictKind::request_late_after).packets +
           verdicts_.of(VerdictKind::response_out_of_order).packets;
  }

  void add_overtaken() {
    const std::uint64_t again = verdicts_.of(VerdictKind::retransmission).verdicts;
    if (overtaken() == 0) return;
    const auto has_overtaken = [](const StreamSummary& stream) {
      return stream.count(VerdictKind::out_of_order) + stream.count(VerdictKind::request_late_after) +
                 stream.count(VerdictKind::response_out_of_order) !=
             0;
    };
    const std::string packets = counted(overtaken(), "packet that others overtook", "packets that others overtook");
    // Losses are a reason of their own; without one, the overtaken packets are the reason.
    if (nothing_was_lost() && again != 0) {
      const std::string text =
          fmt::format("had {}, and sent {} again: nothing was lost", packets, counted(again, "packet", "packets"));
      add(Severity::warning, connections_that(part_, has_overtaken, text, text));
    } else {
      const std::string text = fmt::format("had {}", packets);
      add(Severity::note, connections_that(part_, has_overtaken, text, text));
    }
  }

  void add_repeated() {
    // Known losses and overtaken packets matter more; retransmissions are only their consequence.
    if (verdicts_.losses.total() != 0 || verdicts_.of(VerdictKind::no_answer).verdicts != 0) return;
    if (overtaken() != 0 && nothing_was_lost()) return;
    const std::uint64_t count = verdicts_.of(VerdictKind::retransmission).verdicts;
    if (count == 0) return;
    const auto has_repeated = [](const StreamSummary& stream) { return retransmissions(stream) != 0; };
    const std::string again =
        fmt::format("sent {} again; the findings may say why", counted(count, "packet", "packets"));
    add(Severity::warning, connections_that(part_, has_repeated, again, again));
  }

  void add_cm_repeated() {
    const std::uint64_t count = verdicts_.of(VerdictKind::cm_repeated).verdicts;
    if (count == 0) return;
    std::vector<std::string> messages;
    messages.reserve(verdicts_.cm.by_message.size());
    for (const auto& [message, times] : verdicts_.cm.by_message) {
      messages.push_back(
          fmt::format("{} {}", text::count_text(times), analysis::cm_message_name(MadAttribute{message})));
    }
    std::set<std::string> senders;
    for (const StreamSummary& stream : part_.streams) {
      if (stream.count(VerdictKind::cm_repeated) != 0) senders.insert(to_string(stream.ends[0]));
    }
    constexpr std::size_t kNamed = 3;
    const std::string by = senders.size() <= kNamed ? fmt::format("{}", fmt::join(senders, ", "))
                                                    : counted(senders.size(), "host", "hosts");
    const std::int64_t slowest = verdicts_.cm.slowest_setup_ns;
    const std::string cost =
        slowest == 0 ? "" : fmt::format("; a connection took {} to set up", text::duration_text(slowest));
    add(Severity::warning,
        fmt::format("{} sent again by {}: {}{}", counted(count, "CM message was", "CM messages were"), by,
                    fmt::join(messages, ", "), cost));
  }

  void add_congestion() {
    const std::uint64_t marks = verdicts_.of(VerdictKind::ce_mark).verdicts;
    const std::uint64_t notes = verdicts_.of(VerdictKind::cnp).verdicts;
    if (marks + notes == 0) return;
    add(Severity::note, fmt::format("congestion: {} with a CE mark, {}", counted(marks, "packet", "packets"),
                                    counted(notes, "CNP", "CNPs")));
    const auto is_ignored = [&](const StreamSummary& stream) {
      // If only one direction was captured, the other may have had CNPs.
      return stream.directions[0].seen && stream.directions[1].seen &&
             std::any_of(stream.congestion.begin(), stream.congestion.end(),
                         [](const analysis::CongestionSummary& each) { return each.marks != 0 && each.cnps == 0; });
    };
    if (std::ranges::any_of(part_.streams, is_ignored)) {
      add(Severity::note, connections_that(part_, is_ignored, "had CE marks, and no CNP was seen for it",
                                           "had CE marks, and no CNP was seen for them"));
    }
  }

  const JudgedPart& part_;
  const AnalysisResult& result_;
  const VerdictTotals& verdicts_;
  std::uint64_t connections_ = 0;
  std::vector<Statement> statements_;
};

void add_pauses(const AnalysisResult& result, std::vector<Statement>& statements) {
  const std::uint64_t breaches = result.verdicts.of(VerdictKind::sent_while_paused).verdicts;
  if (breaches != 0) {
    statements.push_back(
        {Severity::warning, counted(breaches, "packet was on its way to a station that had paused its priority",
                                    "packets were on their way to stations that had paused their priorities")});
  }
  const auto stations = static_cast<std::uint64_t>(
      std::count_if(result.pauses.begin(), result.pauses.end(), [](const analysis::PauseSummary& pause) {
        return std::any_of(pause.counts.begin(), pause.counts.end(),
                           [](const analysis::PauseCounts& counts) { return counts.xoff != 0; });
      }));
  if (stations == 0) return;
  const bool is_known = std::ranges::any_of(result.pauses, [](const analysis::PauseSummary& pause) {
    return std::ranges::any_of(pause.counts,
                               [](const analysis::PauseCounts& counts) { return counts.paused.has_value(); });
  });
  statements.push_back(
      {Severity::note, fmt::format("flow control: {} asked for silence{}", counted(stations, "station", "stations"),
                                   is_known ? "" : "; --link-speed says for how long")});
}

void add_sample(const CaptureSample& sample, std::vector<Statement>& statements) {
  std::string share;
  if (sample.of_bytes != 0) {
    share = fmt::format(", {:.1f} % of the bytes",
                        static_cast<double>(sample.bytes) * 100 / static_cast<double>(sample.of_bytes));
  }
  statements.push_back({Severity::note, fmt::format("a sample: only the first {}{} were looked at",
                                                    counted(sample.frames, "frame", "frames"), share)});
}

}  // namespace

std::vector<Statement> statements_about_packets(const JudgedPart& part) {
  return PacketStatements{part}.make();
}

std::vector<Statement> statements_about_capture(const AnalysisResult& result) {
  std::vector<Statement> statements;
  add_pauses(result, statements);
  if (result.sample) add_sample(*result.sample, statements);
  return statements;
}

}  // namespace roce::analyze
