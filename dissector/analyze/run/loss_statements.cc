// SPDX-License-Identifier: BSD-2-Clause
// Statements about packets that were lost.
#include "analyze/run/loss_statements.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "analyze/run/connection_shares.h"
#include "analyze/run/run_time.h"
#include "text/human_units.h"

namespace roce::analyze {

namespace {

using analysis::Severity;
using analysis::StreamSummary;
using analysis::VerdictKind;
using text::counted;

constexpr std::array kLosses{VerdictKind::request_lost_before, VerdictKind::response_lost_before,
                             VerdictKind::request_lost_after,  VerdictKind::response_lost_after,
                             VerdictKind::lost_beyond,         VerdictKind::response_not_in_time};

class LossStatements {
 public:
  explicit LossStatements(const JudgedPart& part) : part_(part), result_(part.result), verdicts_(part.verdicts) {}

  std::vector<Statement> make() && {
    add_losses();
    add_where_losses_meet();
    add_longest_stall();
    add_lost_for_good();
    add_unseen_datagrams();
    return std::move(statements_);
  }

 private:
  void add(Severity severity, std::string text) { statements_.push_back({severity, std::move(text)}); }

  void add_losses() {
    const LossPlaces& lost = verdicts_.losses;
    std::vector<std::string> parts;
    const auto place = [&](std::uint64_t count, std::string_view text) {
      if (count == 0) return;
      const std::string_view point = parts.empty() ? "the capture point" : "it";
      parts.push_back(fmt::format("{} {}", text::count_text(count), fmt::format(fmt::runtime(text), point)));
    };
    place(lost.before, "lost before {}");
    if (lost.damaged != 0)
      parts.back() += fmt::format(" ({} of them seen here, damaged)", text::count_text(lost.damaged));
    place(lost.after, "lost after {}");
    place(lost.beyond, "lost on the responder's side of {}: the request, or its answer");
    const std::uint64_t late = verdicts_.of(VerdictKind::response_not_in_time).packets;
    place(late, late == 1 ? "response lost or overtaken after {}" : "responses lost or overtaken after {}");
    if (parts.empty()) return;
    const auto has_lost = [&](const StreamSummary& stream) {
      return result_.verdicts.lost_of(stream.stream).total() != 0 ||
             stream.count(VerdictKind::response_not_in_time) != 0;
    };
    VerdictCount all;
    for (const VerdictKind kind : kLosses) all += verdicts_.of(kind);
    const Time first{Duration{all.first_ns}};
    const Time last{Duration{all.last_ns}};
    const std::string when =
        first == last ? fmt::format("at {}", run_seconds(result_, first))
                      : fmt::format("from {} to {}", run_seconds(result_, first), run_seconds(result_, last));
    Statement& statement = statements_.emplace_back(
        Statement{Severity::error,
                  fmt::format("{}: {}; {}", connections_that(part_, has_lost, "lost packets", "lost packets"),
                              fmt::join(parts, ", "), when),
                  "losses"});
    statement.facts = {{"before", lost.before},
                       {"after", lost.after},
                       {"beyond", lost.beyond},
                       {"since_ns", run_ns(result_, first)},
                       {"until_ns", run_ns(result_, last)}};
  }

  // The time that a loss costs is not seen in the number of packets.
  void add_longest_stall() {
    constexpr Duration kLeast = std::chrono::milliseconds{1};
    const StreamSummary* worst = nullptr;
    std::size_t end = 0;
    const auto length_of = [](const StreamSummary& stream, std::size_t of) {
      return stream.directions[of].stalls->longest.length();
    };
    for (const StreamSummary& stream : part_.streams) {
      for (const std::size_t each : {0U, 1U}) {
        if (stream.service != Service::rc || !stream.directions[each].seen) continue;
        if (worst == nullptr || length_of(stream, each) > length_of(*worst, end)) {
          worst = &stream;
          end = each;
        }
      }
    }
    if (worst == nullptr || length_of(*worst, end) < kLeast) return;
    const analysis::Quiet& stall = worst->directions[end].stalls->longest;
    Statement& statement = statements_.emplace_back(Statement{
        Severity::warning,
        fmt::format(
            "longest stall: stream {} heard nothing from {} for {}, from {} on, until {} had sent again ({}): a "
            "loss that only its ACK timeout told of",
            worst->stream, to_string(worst->ends[end]), text::duration_text(stall.length().count()),
            run_seconds(result_, stall.begin), to_string(worst->ends[1 - end]), counted(stall.tries, "time", "times")),
        "stall"});
    statement.facts = {{"stream", std::uint64_t{worst->stream}},
                       {"silent", to_string(worst->ends[end])},
                       {"since_ns", run_ns(result_, stall.begin)},
                       {"until_ns", run_ns(result_, stall.end)},
                       {"tries", std::uint64_t{stall.tries}}};
  }

  // Many to one is a reason for losses that no single connection shows.
  void add_where_losses_meet() {
    constexpr std::uint64_t kLeastLost = 10;
    constexpr std::size_t kLeastOthers = 3;
    constexpr std::uint64_t kPercent = 90;
    struct Host {
      std::uint64_t lost = 0;
      std::set<Gid> others;  // with which it lost packets
    };
    std::map<Gid, Host> hosts;
    std::uint64_t all = 0;
    for (const StreamSummary& stream : part_.streams) {
      const std::uint64_t lost = result_.verdicts.lost_of(stream.stream).total();
      if (lost == 0) continue;
      all += lost;
      for (const std::size_t end : {0U, 1U}) {
        Host& host = hosts[stream.ends[end]];
        host.lost += lost;
        host.others.insert(stream.ends[1 - end]);
      }
    }
    const auto meeting = std::ranges::max_element(hosts, {}, [](const auto& host) { return host.second.lost; });
    if (all < kLeastLost || meeting->second.others.size() < kLeastOthers ||
        meeting->second.lost * 100 < all * kPercent) {
      return;
    }
    add(Severity::warning,
        fmt::format("{} of the lost packets are of connections between {} and {} others: roce-analyze incast says "
                    "whether they are lost while several of these send to it at once",
                    text::percent_text(meeting->second.lost, all), to_string(meeting->first),
                    meeting->second.others.size()));
  }

  void add_lost_for_good() {
    const std::uint64_t count = verdicts_.of(VerdictKind::lost_for_good).packets;
    if (count == 0) return;
    const auto lacks = [](const StreamSummary& stream) { return stream.count(VerdictKind::lost_for_good) != 0; };
    const std::string text =
        fmt::format("{} that nobody repeats (UC): lost before the capture point, or missed by the capture",
                    counted(count, "packet", "packets"));
    add(Severity::warning, connections_that(part_, lacks, "lacks " + text, "lack " + text));
  }

  // A-UD-1 (a QP numbers its datagrams one after the other, whoever they are for)
  void add_unseen_datagrams() {
    struct Sender {
      std::uint64_t packets = 0;
      std::vector<std::pair<std::uint64_t, std::uint64_t>> flows;  // unseen PSNs, packets
    };
    std::map<std::tuple<std::uint16_t, std::uint64_t, Gid, Qpn>, Sender> senders;
    for (const StreamSummary& stream : part_.streams) {
      if (stream.service != Service::ud || !stream.qpns[0]) continue;
      Sender& sender = senders[{stream.point, stream.domain, stream.ends[0], *stream.qpns[0]}];
      const std::uint64_t packets = stream.directions[0].packets;
      sender.packets += packets;
      sender.flows.emplace_back(stream.unseen_datagrams, packets);
    }
    std::uint64_t unseen = 0;
    std::uint64_t seen = 0;
    std::uint64_t count = 0;
    for (const auto& [key, sender] : senders) {
      std::uint64_t most = 0;
      // The other flows of the QP may have taken as many of the PSNs that a flow lacks.
      for (const auto& [missing, packets] : sender.flows) {
        most = std::max(most, missing - std::min(missing, sender.packets - packets));
      }
      if (most == 0) continue;
      unseen += most;
      seen += sender.packets;
      ++count;
    }
    if (count == 0) return;
    // A QP that sends as many datagrams elsewhere as here is not a sign of a loss.
    add(unseen < seen ? Severity::warning : Severity::note,
        fmt::format("{} of {} {} not seen: lost before the capture point, missed by the capture, or sent to others",
                    counted(unseen, "datagram", "datagrams"), counted(count, "sending QP", "sending QPs"),
                    unseen == 1 ? "was" : "were"));
  }

  const JudgedPart& part_;
  const AnalysisResult& result_;
  const VerdictTotals& verdicts_;
  std::vector<Statement> statements_;
};

}  // namespace

std::vector<Statement> statements_about_losses(const JudgedPart& part) {
  return LossStatements{part}.make();
}

}  // namespace roce::analyze
