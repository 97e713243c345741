// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <set>

#include "analyze/join/join_format.h"
#include "text/human_units.h"

namespace roce::analyze {

namespace {

std::string packets_text(std::uint64_t count) {
  return fmt::format("{} {}", text::count_text(count), count == 1 ? "packet" : "packets");
}

std::string_view basis_sentence(OrderBasis basis) {
  switch (basis) {
    case OrderBasis::changes:
      return "hop limits, CE marks or damage that only the second point shows";
    case OrderBasis::given:
      return "the clock offset that was given";
    case OrderBasis::round_trip:
      return "the round trip between the points, taking each direction to pass them in the opposite order";
    case OrderBasis::scatter:
      return "how the delays scatter, which makes it likely and not certain";
    case OrderBasis::offset:
      return "the clock offset that other hosts tell";
    case OrderBasis::losses:
      return "packets that are missing at the other point only, which makes it likely and not certain";
    case OrderBasis::copies:
      return "copies that only the second point shows, which makes it likely and not certain";
    case OrderBasis::none:
      break;
  }
  return "nothing";
}

void add_bases(const JoinView& view, text::Charset charset, std::vector<std::string>& caveats) {
  // Only legs of flows that are shown count.
  std::array<std::set<OrderBasis>, kWays> bases;
  for (const FlowSummary& flow : view.result.flows) {
    const LegOrder& leg = view.result.clock.legs[view.flows.flows()[flow.flow].leg];
    bases[static_cast<std::size_t>(flow.way)].insert(leg.basis);
  }
  for (const Way way : {Way::a_to_b, Way::b_to_a}) {
    std::string reasons;
    for (const OrderBasis basis : bases[static_cast<std::size_t>(way)]) {
      reasons += fmt::format("{}{}", reasons.empty() ? "" : "; ", basis_sentence(basis));
    }
    if (reasons.empty()) continue;
    caveats.push_back(fmt::format("{} is known from {}", way_text(way, charset), reasons));
  }
  const WaySummary& unknown = view.result.way(Way::unknown);
  if (unknown.first + unknown.second != 0) {
    caveats.push_back(
        fmt::format("which point they pass first is unknown of {} at A and {} at B, so that loss and a gap in a "
                    "capture look alike; "
                    "if the clocks are synchronised, say so with --offset 0",
                    packets_text(unknown.first), packets_text(unknown.second)));
  }
}

void add_drops(const AnalysisResult& read, std::string_view name, std::vector<std::string>& caveats) {
  std::uint64_t dropped = 0;
  for (const CaptureFile& file : read.files) dropped += file.dropped();
  if (dropped == 0) return;
  caveats.push_back(
      fmt::format("capture {} dropped {} by its own statistics: they may be among those that are called lost or missed",
                  name, packets_text(dropped)));
}

}  // namespace

std::string way_text(Way way, text::Charset charset) {
  const std::string_view arrow = charset == text::Charset::utf8 ? "→" : "->";
  if (way == Way::unknown) return "unknown";
  return way == Way::a_to_b ? fmt::format("A {} B", arrow) : fmt::format("B {} A", arrow);
}

std::string join_headline(const JoinView& view, text::Charset charset) {
  const JoinResult& result = view.result;
  std::uint64_t matched = 0;
  for (const WaySummary& way : result.ways) matched += way.matched;
  if (view.a.packets.empty() || view.b.packets.empty()) {
    return fmt::format("there is no RoCE packet in {}", view.a.packets.empty() ? "A" : "B");
  }
  if (matched == 0) return "no packet of A is in B: other traffic, another time, or addresses were translated between";
  std::string text;
  const auto say = [&](std::string_view what) { text += fmt::format("{}{}", text.empty() ? "" : "; ", what); };
  for (const Way direction : {Way::a_to_b, Way::b_to_a}) {
    const WaySummary& way = result.way(direction);
    if (way.died() == 0) continue;
    std::string how;
    for (const Fate fate : {Fate::lost, Fate::damaged}) {
      if (way.count(fate) == 0) continue;
      how += fmt::format("{}{} {}", how.empty() ? "" : ", ", text::count_text(way.count(fate)), to_string(fate));
    }
    const std::uint64_t judged = way.first - way.not_judged_first;
    say(fmt::format("{} of {} died {}: {}", text::count_text(way.died()), packets_text(judged),
                    way_text(direction, charset), how));
  }
  const WaySummary& unknown = result.way(Way::unknown);
  if (unknown.count(Fate::only_a) + unknown.count(Fate::only_b) != 0) {
    say(fmt::format("{} only A saw and {} only B, and which point is the first is unknown",
                    packets_text(unknown.count(Fate::only_a)), text::count_text(unknown.count(Fate::only_b))));
  }
  std::uint64_t not_judged = 0;
  for (const WaySummary& way : result.ways) not_judged += way.not_judged_first;
  if (text.empty()) {
    text = fmt::format("nothing died between A and B: {} matched", packets_text(matched));
    if (not_judged != 0) text += fmt::format(", {} not judged", text::count_text(not_judged));
  }
  for (const Way direction : {Way::a_to_b, Way::b_to_a}) {
    const std::uint64_t copies = result.way(direction).count(Fate::duplicated);
    if (copies != 0) say(fmt::format("{} duplicated {}", text::count_text(copies), way_text(direction, charset)));
  }
  return text;
}

std::string clock_text(const JoinView& view, text::Charset charset) {
  const ClockModel& clock = view.result.clock;
  const std::string_view plus_minus = charset == text::Charset::utf8 ? "±" : "+-";
  std::string text;
  if (clock.offset_ns) {
    const std::int64_t offset = *clock.offset_ns;
    text = offset == 0 ? std::string{"B's clock and A's are the same"}
                       : fmt::format("B's clock is {} {} A's", text::duration_text(std::abs(offset)),
                                     offset > 0 ? "ahead of" : "behind");
    text += clock.is_given ? std::string{", as given"}
                           : fmt::format(" ({} {}, half of the smallest round trip between the points)", plus_minus,
                                         text::duration_text(clock.uncertainty_ns));
    if (clock.is_contradictory) {
      text += "; that round trip came out negative: the clocks did not run evenly, so take delays as rough";
    }
  } else {
    text = "the clock offset is unknown, since packets of one order only were matched: delays count from the smallest";
  }
  if (clock.drift) {
    text += fmt::format("; B's gains {:.3f} ppm on A's", *clock.drift * 1e6);
    if (clock.offset_ns) text += ", the offset is that at the first packet that both have";
  }
  return text;
}

std::vector<std::string> join_caveats(const JoinView& view, text::Charset charset) {
  const JoinResult& result = view.result;
  std::vector<std::string> caveats;
  add_bases(view, charset, caveats);
  std::uint64_t not_judged = 0;
  std::uint64_t missed = 0;
  std::uint64_t orphaned = 0;
  std::uint64_t bad = 0;
  for (const WaySummary& way : result.ways) {
    not_judged += way.not_judged_first + way.not_judged_second;
    missed += way.count(Fate::missed);
    orphaned += way.count(Fate::orphaned);
    bad += way.bad_at_first;
  }
  if (not_judged != 0) {
    caveats.push_back(fmt::format(
        "{} not judged: the other capture had not begun, or had ended, when they should have been there; if both "
        "ran all the time, say so with --same-span",
        packets_text(not_judged)));
  }
  if (missed != 0) {
    caveats.push_back(
        fmt::format("{} seen at the second point only: the capture at the first missed them", packets_text(missed)));
  }
  if (orphaned != 0) {
    caveats.push_back(
        fmt::format("{} damaged so that the original cannot be told: it is among the lost", packets_text(orphaned)));
  }
  if (bad != 0) caveats.push_back(fmt::format("{} damaged already at the first point", packets_text(bad)));
  if (!result.match.by_icrc) {
    caveats.emplace_back(
        "the ICRCs were cut off by the snap length: packets that were sent again are told apart by IP ID and time "
        "only");
  }
  add_drops(view.read_a, "A", caveats);
  add_drops(view.read_b, "B", caveats);
  return caveats;
}

}  // namespace roce::analyze
