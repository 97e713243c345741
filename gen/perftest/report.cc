// SPDX-License-Identifier: BSD-2-Clause
#include "gen/perftest/report.h"

#include <fmt/core.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace roce::gen {

namespace {

constexpr double kMib = 1048576;

[[nodiscard]] double microseconds(Duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

[[nodiscard]] double per_second(const PerftestReport& report, double amount) {
  const double seconds = seconds_of(report);
  return seconds > 0 ? amount / seconds : 0;
}

[[nodiscard]] double bytes_of(const PerftestReport& report) {
  return static_cast<double>(report.messages) * report.size;
}

/// Returns the figures that the program shows, as far as this end measures them.
[[nodiscard]] std::string figures_of(const PerftestReport& report) {
  if (!measures_latency(report.program)) {
    return fmt::format("{:.2f} MiB/s, {:.0f} messages/s", mib_per_second(report), messages_per_second(report));
  }
  if (report.latency.count() == 0) return "latency measured by the client";
  return fmt::format("latency {:.2f} us at least, {:.2f} typical, {:.2f} at most", microseconds(report.latency.min()),
                     microseconds(report.latency.percentile(0.5)), microseconds(report.latency.max()));
}

void print_json(const PerftestReport& report) {
  nlohmann::ordered_json line{{"event", "perftest"},
                              {"program", to_string(report.program)},
                              {"role", report.role == PerftestRole::client ? "client" : "server"},
                              {"peer", report.peer},
                              {"rdma_cm", report.by_cm},
                              {"version", report.version},
                              {"ok", report.error.empty()},
                              {"messages", report.messages},
                              {"bytes", report.messages * report.size},
                              {"seconds", seconds_of(report)},
                              {"mib_per_second", mib_per_second(report)},
                              {"messages_per_second", messages_per_second(report)},
                              {"qps", report.qps},
                              {"path_mtu", report.path_mtu}};
  if (report.latency.count() != 0) {
    line["latency_us"] = {{"min", microseconds(report.latency.min())},
                          {"typical", microseconds(report.latency.percentile(0.5))},
                          {"max", microseconds(report.latency.max())}};
  }
  line["compared"] = report.compared;
  line["last_ack_missing"] = report.last_ack_missing;
  if (!report.error.empty()) line["error"] = report.error;
  nlohmann::ordered_json& counters = line["counters"] = nlohmann::ordered_json::object();
  for (const transport::CounterName& name : transport::counter_names()) {
    if (report.counters.*name.member != 0) counters[std::string{name.name}] = report.counters.*name.member;
  }
  // A version or an error may contain what a peer sent against the protocol, which need not be UTF-8.
  fmt::print("{}\n", line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

double seconds_of(const PerftestReport& report) {
  if (report.begun == kNever || report.ended == kNever) return 0;
  return std::chrono::duration<double>(report.ended - report.begun).count();
}

double mib_per_second(const PerftestReport& report) {
  return per_second(report, bytes_of(report)) / kMib;
}

double messages_per_second(const PerftestReport& report) {
  return per_second(report, static_cast<double>(report.messages));
}

void print_perftest(const PerftestReport& report, bool json) {
  if (json) {
    print_json(report);
  } else if (report.error.empty()) {
    fmt::print("{} {}: {} messages of {} bytes, {:.3f} s, {}; compared: {}{}\n", report.peer, to_string(report.program),
               report.messages, report.size, seconds_of(report), figures_of(report), report.compared,
               report.last_ack_missing ? " (the last acknowledgement never came)" : "");
  } else {
    fmt::print("{} {}: FAILED: {} ({} messages before)\n", report.peer, to_string(report.program), report.error,
               report.messages);
  }
  std::fflush(stdout);
}

}  // namespace roce::gen
