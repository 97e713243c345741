// SPDX-License-Identifier: BSD-2-Clause
#include "gen/relay/relay_report.h"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <span>

#include "command_line/counted.h"
#include "runtime/clock.h"

namespace roce::gen {

namespace {

constexpr std::array kDirections{impair::Direction::a_to_b, impair::Direction::b_to_a};

/// Converts a time to nanoseconds since the Unix epoch.
[[nodiscard]] std::int64_t unix_time(Time time) {
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  return (std::chrono::duration_cast<Duration>(wall) - (runtime::now() - time)).count();
}

[[nodiscard]] std::string opcode_text(Opcode opcode) {
  const OpcodeInfo& info = opcode_info(opcode);
  return info.defined() ? std::string{info.name} : fmt::format("{:#04x}", static_cast<unsigned>(opcode));
}

[[nodiscard]] nlohmann::ordered_json to_json(const RelayCounters& counters) {
  nlohmann::ordered_json list;
  for (const live::CounterRow<RelayCounters>& row : relay_counter_rows()) {
    list[std::string{row.name}] = counters.*row.member;
  }
  list["lost"] = counters.lost();
  return list;
}

void print_lost(const RelayCounters& counters, const std::string& in, const std::string& out) {
  if (counters.missed != 0) {
    fmt::print("  {} lost before they could be read: {} received more than this machine relays\n", counters.missed, in);
  }
  if (counters.unsendable != 0) {
    fmt::print(
        "  {0} lost because they are longer than {2} carries: a sender leaves segmentation to its NIC, which a virtual "
        "wire has not (at the sender: ethtool -K IF tso off gso off; here: ethtool -K {1} gro off lro off), or its MTU "
        "is larger\n",
        counters.unsendable, in, out);
  }
  if (counters.refused != 0) {
    fmt::print("  {} lost because {} did not take them: it was down, or its queue was full\n", counters.refused, out);
  }
}

}  // namespace

Outcome<RelayLog> RelayLog::create(const std::string& path) {
  link::Result<link::OutputFile> file = link::OutputFile::create(path);
  if (!file) return cannot(fmt::format("cannot write the log {}", file.error().message));
  return RelayLog{std::move(*file)};
}

void RelayLog::write(const impair::LogRecord& record, const impair::RuleSet& rules) {
  const impair::Rule& rule = rules.rules()[record.rule];
  nlohmann::ordered_json line{
      {"time_ns", unix_time(record.time)}, {"direction", impair::to_string(record.flow.direction)},
      {"packet", record.packet},           {"action", impair::action_name(rule.action.index())},
      {"rule", record.rule + 1},
  };
  if (!rule.name.empty()) line["name"] = rule.name;
  line["outcome"] = record.outcome == impair::LogOutcome::done ? "done" : "over_limit";
  line["match"] = record.match;
  if (record.is_roce) {
    line["source"] = to_string(record.flow.source);
    line["destination"] = to_string(record.flow.destination);
    line["dest_qp"] = record.flow.dest_qp.value();
    line["opcode"] = opcode_text(record.opcode);
    line["class"] = impair::to_string(record.packet_class);
    line["psn"] = record.psn.value();
    line["relative_psn"] = record.relative_psn;
    line["transmission"] = record.transmission;
  }
  text_ += line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (text_.size() >= kBlock) flush();
}

void RelayLog::flush() {
  // `close` reports an error.
  (void)file_.write(std::as_bytes(std::span{text_}));
  text_.clear();
}

Outcome<void> RelayLog::close() {
  flush();
  const link::Result<void> closed = file_.close();
  if (!closed) return failed(fmt::format("the log could not be written whole: {}", closed.error().message));
  return {};
}

std::string relay_live_line(const RelayInterfaces& interfaces, const std::array<RelayCounters, 2>& counters,
                            const std::array<RelayCounters, 2>& before, Duration interval) {
  const double seconds = std::chrono::duration<double>(interval).count();
  std::string line;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto rate = [&](std::uint64_t RelayCounters::*member) {
      return static_cast<double>(counters[i].*member - before[i].*member) / seconds;
    };
    line += fmt::format("{}{} > {}: {:.0f} frames/s {:.3f} Gbit/s, {} dropped, {} lost", i == 0 ? "" : " | ",
                        interfaces[i], interfaces[1 - i], rate(&RelayCounters::received),
                        rate(&RelayCounters::received_bytes) * 8e-9, counters[i].dropped, counters[i].lost());
  }
  return line;
}

void print_relay_totals(const RelayInterfaces& interfaces, const Relay& relay, Duration duration, bool json) {
  const double seconds = std::chrono::duration<double>(duration).count();
  const std::span<const impair::Rule> rules = relay.engine().rules().rules();
  if (json) {
    nlohmann::ordered_json line{{"event", "totals"}, {"seconds", seconds}};
    for (const impair::Direction direction : kDirections) {
      line[std::string{impair::to_string(direction)}] = to_json(relay.counters(direction));
    }
    line["rules"] = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < rules.size(); ++i) {
      const RuleCounters& counters = relay.rule_counters()[i];
      line["rules"].push_back({{"rule", i + 1},
                               {"action", impair::action_name(rules[i].action.index())},
                               {"name", rules[i].name},
                               {"a_to_b", counters.done[0]},
                               {"b_to_a", counters.done[1]},
                               {"over_limit", counters.over_limit}});
    }
    fmt::print("{}\n", line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    std::fflush(stdout);
    return;
  }
  fmt::print("relayed for {:.3f} s\n", seconds);
  for (const impair::Direction direction : kDirections) {
    const RelayCounters counters = relay.counters(direction);
    const auto side = static_cast<std::size_t>(direction);
    fmt::print(
        "{} > {}: {} ({}) received, {} ({}) passed on; {} dropped by rules, {}, {} held "
        "at the end, {} lost\n",
        interfaces[side], interfaces[1 - side], command_line::counted(counters.received, "frame", "frames"),
        command_line::counted(counters.received_bytes, "byte", "bytes"), counters.passed,
        command_line::counted(counters.passed_bytes, "byte", "bytes"), counters.dropped,
        command_line::counted(counters.duplicates, "copy", "copies"), counters.held, counters.lost());
    print_lost(counters, interfaces[side], interfaces[1 - side]);
  }
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const RuleCounters& counters = relay.rule_counters()[i];
    fmt::print("rule {} {}: {} {} > {}, {} {} > {}", i + 1, impair::to_text(rules[i]),
               command_line::counted(counters.done[0], "time", "times"), interfaces[0], interfaces[1],
               command_line::counted(counters.done[1], "time", "times"), interfaces[1], interfaces[0]);
    if (counters.over_limit != 0) {
      fmt::print("; {} there was no room to hold the packet",
                 command_line::counted(counters.over_limit, "time", "times"));
    }
    fmt::print("\n");
  }
  std::fflush(stdout);
}

}  // namespace roce::gen
