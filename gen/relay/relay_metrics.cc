// SPDX-License-Identifier: BSD-2-Clause
#include "gen/relay/relay_metrics.h"

#include <fmt/format.h>

namespace roce::gen {

namespace {

[[nodiscard]] live::MetricLabels labels_of(const RelayInterfaces& interfaces, std::size_t side) {
  return {{"from", interfaces[side]}, {"to", interfaces[1 - side]}};
}

}  // namespace

std::span<const live::CounterRow<RelayCounters>> relay_counter_rows() {
  using Row = live::CounterRow<RelayCounters>;
  static constexpr std::array kRows{
      Row{&RelayCounters::received, "received", "relay_received_frames", "Frames that came in."},
      Row{&RelayCounters::received_bytes, "received_bytes", "relay_received_bytes", "Bytes of frames that came in."},
      Row{&RelayCounters::passed, "passed", "relay_passed_frames", "Frames passed on, copies among them."},
      Row{&RelayCounters::passed_bytes, "passed_bytes", "relay_passed_bytes", "Bytes of frames passed on."},
      Row{&RelayCounters::dropped, "dropped", "relay_dropped_frames", "Frames dropped by a rule."},
      Row{&RelayCounters::duplicates, "duplicates", "relay_duplicated_frames", "Copies that rules made."},
      Row{&RelayCounters::held, "held", "relay_held_frames", "Frames that wait inside, now.", live::MetricKind::gauge},
      Row{&RelayCounters::missed, "missed", "relay_missed_frames",
          "Frames lost before they were seen: the receive ring was full."},
      Row{&RelayCounters::unsendable, "unsendable", "relay_unsendable_frames",
          "Frames lost because the other interface does not carry them."},
      Row{&RelayCounters::refused, "refused", "relay_refused_frames",
          "Frames lost because the kernel did not take them."},
  };
  static_assert(kRows.size() * sizeof(std::uint64_t) == sizeof(RelayCounters), "every counter has a row");
  return kRows;
}

live::Metrics relay_metrics(const RelayInterfaces& interfaces, const Relay& relay) {
  const std::array sides{labels_of(interfaces, 0), labels_of(interfaces, 1)};
  live::Metrics metrics;
  live::append_metrics<RelayCounters>(
      metrics, relay_counter_rows(),
      {{sides[0], relay.counters(impair::Direction::a_to_b)}, {sides[1], relay.counters(impair::Direction::b_to_a)}});
  live::MetricFamily actions{"roce_relay_rule_actions", live::MetricKind::counter, "How often a rule acted.", {}};
  live::MetricFamily over_limit{
      "roce_relay_rule_over_limit", live::MetricKind::counter, "Packets that a rule had no room to hold.", {}};
  const std::span<const impair::Rule> rules = relay.engine().rules().rules();
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const RuleCounters& counters = relay.rule_counters()[i];
    const live::MetricLabels rule{{"rule", fmt::format("{}", i + 1)},
                                  {"action", std::string{impair::action_name(rules[i].action.index())}},
                                  {"name", rules[i].name}};
    for (std::size_t side = 0; side < sides.size(); ++side) {
      live::MetricLabels labels = rule;
      labels.insert(labels.end(), sides[side].begin(), sides[side].end());
      actions.samples.push_back({std::move(labels), counters.done[side]});
    }
    over_limit.samples.push_back({rule, counters.over_limit});
  }
  metrics.push_back(std::move(actions));
  metrics.push_back(std::move(over_limit));
  return metrics;
}

}  // namespace roce::gen
