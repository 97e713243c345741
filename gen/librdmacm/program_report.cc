// SPDX-License-Identifier: BSD-2-Clause
#include "gen/librdmacm/program_report.h"
#include "command_line/counted.h"

#include <fmt/core.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace roce::gen {

void print_program(const ProgramReport& report, bool json) {
  const bool is_good = report.error.empty();
  const bool has_run = report.begun != kNever && report.ended != kNever;
  const double seconds = has_run ? std::chrono::duration<double>(report.ended - report.begun).count() : 0;
  if (json) {
    nlohmann::ordered_json line{{"event", report.program},
                                {"role", report.is_server ? "server" : "client"},
                                {"peer", report.peer},
                                {"ok", is_good},
                                {"messages", report.messages},
                                {"bytes", report.bytes},
                                {"compared", report.is_compared},
                                {"seconds", seconds}};
    if (!is_good) line["error"] = report.error;
    nlohmann::ordered_json& counters = line["counters"] = nlohmann::ordered_json::object();
    for (const transport::CounterName& name : transport::counter_names()) {
      if (report.counters.*name.member != 0) counters[std::string{name.name}] = report.counters.*name.member;
    }
    fmt::print("{}\n", line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  } else if (is_good) {
    fmt::print("{} {}: {}, {}{}{}, {:.3f} s\n", report.peer, report.program,
               command_line::counted(report.messages, "message", "messages"),
               command_line::counted(report.bytes, "byte", "bytes"), report.is_one_way ? "" : " each way",
               report.is_compared ? ", compared" : "", seconds);
  } else {
    fmt::print("{} {}: FAILED: {} ({} before)\n", report.peer, report.program, report.error,
               command_line::counted(report.messages, "message", "messages"));
  }
  std::fflush(stdout);
}

}  // namespace roce::gen
