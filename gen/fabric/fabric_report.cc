// SPDX-License-Identifier: BSD-2-Clause
#include "gen/fabric/fabric_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "gen/fabric/fabric_summary.h"
#include "text/human_units.h"
#include "text/text_buffer.h"
#include "text/text_table.h"

namespace roce::gen {

namespace {

using Json = nlohmann::ordered_json;
using fabric::Fabric;

[[nodiscard]] std::string nanoseconds_text(double ns) {
  return text::duration_text(static_cast<std::int64_t>(ns));
}

[[nodiscard]] std::string workload_table(const Fabric& fabric, const FabricRunFacts& facts) {
  using text::Align;
  text::TextTable table{{{"workload", Align::left},
                         {"flows", Align::right},
                         {"done", Align::right},
                         {"failed", Align::right},
                         {"goodput", Align::right},
                         {"Jain", Align::right},
                         {"time p50", Align::right},
                         {"p99", Align::right},
                         {"longest", Align::right},
                         {"slowdown p50", Align::right},
                         {"p99", Align::right}}};
  const std::vector<WorkloadSummary> summaries = summarize_workloads(fabric, facts.workloads.size());
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    const WorkloadSummary& summary = summaries[i];
    const auto time = [&](double Percentiles::*which) {
      return summary.times ? nanoseconds_text((*summary.times).*which) : std::string{"-"};
    };
    const auto slowdown = [&](double Percentiles::*which) {
      return summary.slowdowns ? fmt::format("{:.2f}", (*summary.slowdowns).*which) : std::string{"-"};
    };
    table.add_row({{facts.workloads[i]},
                   {std::to_string(summary.flows)},
                   {std::to_string(summary.finished)},
                   {std::to_string(summary.failed), summary.failed != 0 ? text::Tone::bad : text::Tone::plain},
                   {text::bit_rate_text(summary.goodput_bps)},
                   {summary.jain > 0 ? fmt::format("{:.3f}", summary.jain) : "-"},
                   {time(&Percentiles::p50)},
                   {time(&Percentiles::p99)},
                   {time(&Percentiles::most)},
                   {slowdown(&Percentiles::p50)},
                   {slowdown(&Percentiles::p99)}});
  }
  text::TextBuffer out;
  table.append_text(out, {});
  return fmt::to_string(out);
}

[[nodiscard]] std::string watchdog_text(const Fabric& fabric) {
  std::string text;
  constexpr std::size_t most = 10;
  const auto events = fabric.watchdog_events();
  for (std::size_t i = 0; i < events.size() && i < most; ++i) {
    text +=
        fmt::format("watchdog: {} priority {} at {}: {} frames dropped\n", fabric.name_of(events[i].port),
                    events[i].priority, text::duration_text(events[i].at.time_since_epoch().count()), events[i].frames);
  }
  if (events.size() > most) text += fmt::format("watchdog: {} more\n", events.size() - most);
  return text;
}

[[nodiscard]] std::string deadlock_text(const Fabric& fabric) {
  const std::vector<fabric::PortId> circle = fabric.find_deadlock();
  if (circle.empty()) return {};
  std::string ports;
  for (const fabric::PortId port : circle) ports += (ports.empty() ? "" : ", ") + fabric.name_of(port);
  return fmt::format("deadlock: each waits for the next one: {}\n", ports);
}

[[nodiscard]] Json percentiles_json(const std::optional<Percentiles>& percentiles) {
  if (!percentiles) return nullptr;
  return {{"p50", percentiles->p50}, {"p95", percentiles->p95}, {"p99", percentiles->p99}, {"max", percentiles->most}};
}

[[nodiscard]] Json workloads_json(const Fabric& fabric, const FabricRunFacts& facts) {
  Json list = Json::array();
  const std::vector<WorkloadSummary> summaries = summarize_workloads(fabric, facts.workloads.size());
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    const WorkloadSummary& summary = summaries[i];
    list.push_back(
        {{"name", facts.workloads[i]},
         {"flows", summary.flows},
         {"started", summary.started},
         {"finished", summary.finished},
         {"failed", summary.failed},
         {"delivered_bytes", summary.delivered},
         {"goodput_bps", summary.goodput_bps},
         {"jain", summary.jain},
         {"last_finish_ns", summary.last_finish ? Json(summary.last_finish->time_since_epoch().count()) : Json()},
         {"completion_ns", percentiles_json(summary.times)},
         {"slowdown", percentiles_json(summary.slowdowns)}});
  }
  return list;
}

[[nodiscard]] Json ports_json(const Fabric& fabric) {
  Json list = Json::array();
  for (fabric::PortId port = 0; port < fabric.ports(); ++port) {
    const fabric::PortCounters& counters = fabric.counters(port);
    Json paused = Json::array();
    for (std::uint8_t priority = 0; priority < kPriorities; ++priority)
      paused.push_back(fabric.paused_time(port, priority).count());
    list.push_back({{"port", fabric.name_of(port)},
                    {"frames", counters.frames},
                    {"bytes", counters.bytes},
                    {"marked", counters.marked},
                    {"lost", counters.lost},
                    {"dropped", counters.dropped},
                    {"watchdog_drops", counters.watchdog_drops},
                    {"xoffs_sent", counters.xoffs},
                    {"longest_queue_bytes", counters.longest_queue},
                    {"paused_ns", std::move(paused)}});
  }
  return list;
}

}  // namespace

std::string fabric_text(const Fabric& fabric, const FabricRunFacts& facts) {
  const fabric::Totals totals = fabric.totals();
  const NetworkSummary network = summarize_network(fabric);
  std::string text = fmt::format("{}: {} hosts, {} switches, {} links, seed {}, {} of virtual time\n", facts.file,
                                 fabric.topology().hosts, fabric.topology().switches, fabric.topology().links.size(),
                                 facts.seed, text::duration_text(fabric.now().time_since_epoch().count()));
  text += workload_table(fabric, facts);
  text += fmt::format(
      "packets: {} sent, {} sent again, {} timeouts; {} dropped, {} lost by links, {} by the watchdog\n",
      totals.packets, network.retransmitted, network.timeouts, totals.dropped, totals.lost, totals.watchdog_drops);
  text +=
      fmt::format("congestion: {} marked, {} CNPs; {} stops by PFC, hosts were paused for {} in all, switches for {}\n",
                  totals.marked, network.cnps, totals.xoffs, text::duration_text(network.host_paused.count()),
                  text::duration_text(network.switch_paused.count()));
  if (network.longest_queue != 0) {
    text +=
        fmt::format("longest queue: {} bytes at {}\n", network.longest_queue, fabric.name_of(network.longest_queue_at));
  }
  return text + watchdog_text(fabric) + deadlock_text(fabric);
}

std::string fabric_json(const Fabric& fabric, const FabricRunFacts& facts) {
  const fabric::Totals totals = fabric.totals();
  const NetworkSummary network = summarize_network(fabric);
  Json watchdog = Json::array();
  for (const fabric::WatchdogEvent& event : fabric.watchdog_events()) {
    watchdog.push_back({{"time_ns", event.at.time_since_epoch().count()},
                        {"port", fabric.name_of(event.port)},
                        {"priority", event.priority},
                        {"frames", event.frames}});
  }
  Json deadlock = Json::array();
  for (const fabric::PortId port : fabric.find_deadlock()) deadlock.push_back(fabric.name_of(port));
  const Json result{{"file", facts.file},
                    {"seed", facts.seed},
                    {"hosts", fabric.topology().hosts},
                    {"switches", fabric.topology().switches},
                    {"time_ns", fabric.now().time_since_epoch().count()},
                    {"workloads", workloads_json(fabric, facts)},
                    {"packets", totals.packets},
                    {"hops", totals.hops},
                    {"events", totals.events},
                    {"retransmitted", network.retransmitted},
                    {"timeouts", network.timeouts},
                    {"dropped", totals.dropped},
                    {"lost", totals.lost},
                    {"watchdog_drops", totals.watchdog_drops},
                    {"marked", totals.marked},
                    {"cnps", network.cnps},
                    {"xoffs", totals.xoffs},
                    {"watchdog", std::move(watchdog)},
                    {"deadlock", std::move(deadlock)},
                    {"ports", ports_json(fabric)}};
  return result.dump(2) + "\n";
}

}  // namespace roce::gen
