// SPDX-License-Identifier: BSD-2-Clause
// The page of a simulated network: workloads, queues, flows.
#include "gen/fabric/fabric_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "gen/fabric/fabric_summary.h"
#include "page/page.h"
#include "page/run_page.h"
#include "text/human_units.h"

namespace roce::gen {

namespace {

using fabric::Fabric;
using page::Form;
using page::Measure;
using page::Tone;
using Json = nlohmann::ordered_json;

// A browser sorts so many without a stall.
constexpr std::size_t kMostRows = 100'000;

enum Series : std::size_t { goodput, queue, ports_paused, resent, dropped, marked, cnps };
constexpr std::array<page::SeriesInfo, 7> kSeries{{{"goodput", Measure::rate},
                                                   {"queue", Measure::level},
                                                   {"ports_paused", Measure::level},
                                                   {"resent", Measure::count},
                                                   {"dropped", Measure::count},
                                                   {"ce", Measure::count},
                                                   {"cnp", Measure::count}}};

std::int64_t nanoseconds(Time time) {
  return time.time_since_epoch().count();
}

Json whole(double value) {
  return std::llround(value);
}

page::RunTable workload_table(const std::vector<WorkloadSummary>& summaries, const FabricRunFacts& facts) {
  page::RunTable table{
      "workloads",
      "Workloads",
      "Slowdown: the time of a flow over what it takes alone. Jain: fairness of what the flows had, 1 is best.",
      {{"workload", Form::text},
       {"flows", Form::count},
       {"finished", Form::count},
       {"failed", Form::bad},
       {"delivered_bytes", Form::bytes},
       {"goodput_bps", Form::bps},
       {"jain", Form::ratio},
       {"p50_ns", Form::ns},
       {"p99_ns", Form::ns},
       {"max_ns", Form::ns},
       {"slowdown_p50", Form::ratio},
       {"slowdown_p99", Form::ratio}},
      {}};
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    const WorkloadSummary& summary = summaries[i];
    const auto time = [&](double Percentiles::*which) {
      return summary.times ? whole((*summary.times).*which) : Json{};
    };
    const auto slowdown = [&](double Percentiles::*which) {
      return summary.slowdowns ? Json((*summary.slowdowns).*which) : Json{};
    };
    table.rows.push_back(Json::array(
        {facts.workloads[i], summary.flows, summary.finished, summary.failed, summary.delivered,
         whole(summary.goodput_bps), summary.jain > 0 ? Json(summary.jain) : Json{}, time(&Percentiles::p50),
         time(&Percentiles::p99), time(&Percentiles::most), slowdown(&Percentiles::p50), slowdown(&Percentiles::p99)}));
  }
  return table;
}

page::RunTable port_table(const Fabric& fabric) {
  page::RunTable table{
      "ports",
      "Ports",
      "s0>h3 is the port of s0 to h3. Dropped: frames that came in there and found no room in the buffer.",
      {{"port", Form::text},
       {"frames", Form::count},
       {"bytes", Form::bytes},
       {"longest_queue_bytes", Form::bytes},
       {"marked", Form::count},
       {"dropped", Form::bad},
       {"lost", Form::bad},
       {"watchdog_drops", Form::bad},
       {"xoffs_sent", Form::count},
       {"paused_ns", Form::ns}},
      {}};
  for (fabric::PortId port = 0; port < fabric.ports() && table.rows.size() < kMostRows; ++port) {
    const fabric::PortCounters& counters = fabric.counters(port);
    const Duration paused = paused_time(fabric, port);
    if (counters.frames == 0 && counters.dropped == 0 && paused == Duration{}) continue;
    table.rows.push_back(
        Json::array({fabric.name_of(port), counters.frames, counters.bytes, counters.longest_queue, counters.marked,
                     counters.dropped, counters.lost, counters.watchdog_drops, counters.xoffs, paused.count()}));
  }
  std::ranges::stable_sort(table.rows, std::ranges::greater{},
                           [](const Json& row) { return row[3].get<std::uint64_t>(); });
  return table;
}

std::string_view state_text(const fabric::FlowState& state) {
  if (state.failed) return "failed";
  if (state.finished) return "finished";
  return state.started ? "under way" : "not started";
}

page::RunTable flow_table(const Fabric& fabric, const FabricRunFacts& facts) {
  page::RunTable table{"flows",
                       "Flows",
                       "The slowest first, those that have not finished before them.",
                       {{"flow", Form::text},
                        {"workload", Form::text},
                        {"from", Form::text},
                        {"to", Form::text},
                        {"state", Form::text},
                        {"started_ns", Form::ns},
                        {"time_ns", Form::ns},
                        {"slowdown", Form::ratio},
                        {"delivered_bytes", Form::bytes},
                        {"resent", Form::count},
                        {"timeouts", Form::bad}},
                       {}};
  const std::span<const fabric::Flow> flows = fabric.flows();
  std::vector<std::pair<double, std::uint32_t>> order;  // slowdown
  order.reserve(flows.size());
  for (std::uint32_t flow = 0; flow < flows.size(); ++flow) {
    const fabric::FlowState state = fabric.flow_state(flow);
    const double slowdown = state.finished ? static_cast<double>((*state.finished - *state.started).count()) /
                                                 static_cast<double>(fabric.ideal_time(flow).count())
                                           : HUGE_VAL;
    order.emplace_back(slowdown, flow);
  }
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) { return a.first > b.first; });
  order.resize(std::min(order.size(), kMostRows));
  for (const auto& [slowdown, flow] : order) {
    const fabric::FlowState state = fabric.flow_state(flow);
    const transport::Counters counters = fabric.flow_counters(flow);
    table.rows.push_back(
        Json::array({std::to_string(flow), facts.workloads[flows[flow].group],
                     fabric.topology().names[flows[flow].from], fabric.topology().names[flows[flow].to],
                     state_text(state), state.started ? Json(nanoseconds(*state.started)) : Json{},
                     state.finished ? Json((*state.finished - *state.started).count()) : Json{},
                     state.finished ? Json(slowdown) : Json{}, state.delivered, counters.retransmitted_packets,
                     counters.timeouts}));
  }
  return table;
}

std::vector<page::RunTimes> times_of(const Fabric& fabric, const FabricRunFacts& facts) {
  std::vector<std::vector<std::int64_t>> all(facts.workloads.size());
  for (std::uint32_t flow = 0; flow < fabric.flows().size(); ++flow) {
    const fabric::FlowState state = fabric.flow_state(flow);
    if (state.finished) all[fabric.flows()[flow].group].push_back((*state.finished - *state.started).count());
  }
  std::vector<page::RunTimes> times;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::ranges::sort(all[i]);
    page::RunTimes one{facts.workloads[i], all[i].size(), {}};
    if (!all[i].empty()) {
      for (const double share : page::time_shares()) one.ns.push_back(at_share(all[i], share));
    }
    times.push_back(std::move(one));
  }
  return times;
}

/// Says what has become of the flows.
void judge(page::RunPage& page, const Fabric& fabric, const std::vector<WorkloadSummary>& summaries) {
  std::uint64_t finished = 0;
  std::uint64_t failed = 0;
  std::uint64_t delivered = 0;
  for (const WorkloadSummary& summary : summaries) {
    finished += summary.finished;
    failed += summary.failed;
    delivered += summary.delivered;
  }
  const auto ending = static_cast<std::uint64_t>(
      std::ranges::count_if(fabric.flows(), [](const fabric::Flow& flow) { return flow.bytes != fabric::kEndless; }));
  const std::string time = text::duration_text(nanoseconds(fabric.now()));
  if (ending == 0) {
    page.verdict =
        fmt::format("{} without an end delivered {} in {}", text::counted(fabric.flows().size(), "flow", "flows"),
                    text::bytes_text(delivered), time);
  } else {
    page.verdict = fmt::format("{} of {} had finished after {}", text::count_text(finished),
                               text::counted(ending, "flow", "flows"), time);
    if (finished != ending) page.tone = Tone::warning;
  }
  if (failed != 0) {
    page.tone = Tone::error;
    page.statements.emplace_back(
        Tone::error, fmt::format("{} failed: their requester gave up", text::counted(failed, "flow", "flows")));
  }
  if (const std::vector<fabric::PortId> circle = fabric.find_deadlock(); !circle.empty()) {
    page.tone = Tone::error;
    std::string ports;
    for (const fabric::PortId port : circle) ports += (ports.empty() ? "" : ", ") + fabric.name_of(port);
    page.verdict = fmt::format("deadlock: each of {} waits for the next one: {}",
                               text::counted(circle.size(), "port", "ports"), ports);
  }
}

void add_statements(page::RunPage& page, const Fabric& fabric) {
  const fabric::Totals totals = fabric.totals();
  const NetworkSummary network = summarize_network(fabric);
  const auto add = [&page](std::uint64_t count, Tone tone, std::string text) {
    if (count != 0) page.statements.emplace_back(tone, std::move(text));
  };
  add(totals.dropped, Tone::warning,
      fmt::format("{} dropped by switches without room", text::counted(totals.dropped, "packet was", "packets were")));
  add(totals.lost, Tone::warning,
      fmt::format("{} lost by links", text::counted(totals.lost, "packet was", "packets were")));
  add(totals.watchdog_drops, Tone::warning,
      fmt::format("the watchdog dropped {}, in {}", text::counted(totals.watchdog_drops, "packet", "packets"),
                  text::counted(fabric.watchdog_events().size(), "queue that it emptied", "queues that it emptied")));
  add(network.retransmitted, Tone::note,
      fmt::format("{} sent again, after {}", text::counted(network.retransmitted, "packet was", "packets were"),
                  text::counted(network.timeouts, "timeout", "timeouts")));
  add(totals.marked, Tone::note,
      fmt::format("{} marked (CE), {} sent", text::counted(totals.marked, "packet was", "packets were"),
                  text::counted(network.cnps, "CNP was", "CNPs were")));
  add(totals.xoffs, Tone::note,
      fmt::format("PFC stopped a priority {}: hosts were paused for {} in all, switches for {}",
                  text::counted(totals.xoffs, "time", "times"), text::duration_text(network.host_paused.count()),
                  text::duration_text(network.switch_paused.count())));
  add(network.longest_queue, Tone::note,
      fmt::format("the longest queue had {}, at {}", text::bytes_text(network.longest_queue),
                  fabric.name_of(network.longest_queue_at)));
}

}  // namespace

FabricSeries::FabricSeries() : pyramid_(page::measures_of(kSeries)) {
  pyramid_.reach(0);
}

FabricSeries::Sums FabricSeries::sums_of(const Fabric& fabric) {
  const fabric::Totals totals = fabric.totals();
  Sums sums;
  sums.marked = totals.marked;
  sums.dropped = totals.dropped + totals.lost + totals.watchdog_drops;
  for (fabric::NodeId host = 0; host < fabric.topology().hosts; ++host) {
    const transport::Counters counters = fabric.host_counters(host);
    sums.resent += counters.retransmitted_packets;
    sums.cnps += counters.cnps_sent;
  }
  for (std::uint32_t flow = 0; flow < fabric.flows().size(); ++flow)
    sums.delivered += fabric.flow_state(flow).delivered;
  return sums;
}

/// Spreads what came between two samples over the intervals between them: a rate of one interval would be a multiple.
void FabricSeries::add_delivered(std::int64_t from_ns, std::int64_t to_ns, std::uint64_t bytes) {
  const auto width = static_cast<std::int64_t>(pyramid_.width_ns());
  const auto pieces = static_cast<std::uint64_t>(std::max<std::int64_t>((to_ns - from_ns) / width, 1));
  std::uint64_t added = 0;
  for (std::uint64_t piece = 1; piece <= pieces; ++piece) {
    const std::uint64_t upto = bytes / pieces * piece + bytes % pieces * piece / pieces;
    const std::int64_t at = from_ns + static_cast<std::int64_t>(piece - 1) * width;
    pyramid_.add(goodput, std::min(at, to_ns - 1), upto - added);
    added = upto;
  }
}

std::uint64_t FabricSeries::count_paused(const Fabric& fabric) {
  paused_.resize(fabric.ports());
  std::uint64_t count = 0;
  for (fabric::PortId port = 0; port < fabric.ports(); ++port) {
    const Duration paused = paused_time(fabric, port);
    if (paused != paused_[port]) ++count;
    paused_[port] = paused;
  }
  return count;
}

void FabricSeries::sample(const Fabric& fabric) {
  const std::int64_t now = nanoseconds(fabric.now());
  if (now <= last_ns_) return;
  const Sums sums = sums_of(fabric);
  add_delivered(last_ns_, now, sums.delivered - last_.delivered);
  const std::int64_t at = now - 1;
  pyramid_.reach(at);
  for (const auto& [series, member] :
       {std::pair{resent, &Sums::resent}, {dropped, &Sums::dropped}, {marked, &Sums::marked}, {cnps, &Sums::cnps}}) {
    if (sums.*member != last_.*member) pyramid_.add(series, at, sums.*member - last_.*member);
  }
  std::uint64_t longest = 0;
  for (fabric::PortId port = 0; port < fabric.ports(); ++port) {
    for (std::uint8_t priority = 0; priority < kPriorities; ++priority) {
      longest = std::max(longest, fabric.queue_bytes(port, priority));
    }
  }
  pyramid_.add(queue, at, longest);
  pyramid_.add(ports_paused, at, count_paused(fabric));
  last_ = sums;
  last_ns_ = now;
}

std::string fabric_page(const Fabric& fabric, const FabricRunFacts& facts, FabricSeries& series) {
  const std::vector<WorkloadSummary> summaries = summarize_workloads(fabric, facts.workloads.size());
  page::RunPage page;
  page.program = "roce-gen " ROCE_VERSION;
  page.title = fmt::format("roce-gen fabric {}", facts.file);
  judge(page, fabric, summaries);
  add_statements(page, fabric);
  page.facts = {{"File", facts.file},
                {"Seed", std::to_string(facts.seed)},
                {"Network", fmt::format("{}, {}, {}", text::counted(fabric.topology().hosts, "host", "hosts"),
                                        text::counted(fabric.topology().switches, "switch", "switches"),
                                        text::counted(fabric.topology().links.size(), "link", "links"))},
                {"Virtual time", text::duration_text(nanoseconds(fabric.now()))},
                {"Packets", text::count_text(fabric.totals().packets)}};
  page.kind = "workload";
  page.what = "flows";
  page.times = times_of(fabric, facts);
  page.tables = {workload_table(summaries, facts), port_table(fabric), flow_table(fabric, facts)};
  return page::make_page(page::Kind::run, page::run_json(page, &series.pyramid(), kSeries, "the start of the run"));
}

}  // namespace roce::gen
