// SPDX-License-Identifier: BSD-2-Clause
#include "gen/program_client.h"

#include <fmt/format.h>

#include "command_line/command.h"
#include "gen/pingpong_report.h"
#include "gen/tcp.h"

namespace roce::gen {

void add_client_options(command_line::Command& command, ClientOptions& options) {
  add_endpoint_options(command, options.endpoint);
  command.add_option("-p,--port", options.port, "RDMA port of the server").range(1, 65535).capture_default_str();
  command.add_option("--tos", options.traffic_class, "Traffic class of the connection, both ways: DSCP * 4 + ECN")
      .range(0, 255);
  command.add_option("host", options.host, "Host on which the server listens").required();
}

Outcome<ExitCode> run_client(const ClientOptions& options, const std::string& program, const ClientScript& script) {
  const Outcome<Gid> to = resolve_host(options.host);
  if (!to) return tl::unexpected(to.error());
  Outcome<std::unique_ptr<Endpoint>> opened = Endpoint::open(options.endpoint);
  if (!opened) return tl::unexpected(opened.error());
  Endpoint& endpoint = **opened;
  if (endpoint.gid().is_ipv4_mapped() != to->is_ipv4_mapped()) {
    return cannot(fmt::format("{} cannot be reached from {}: choose an address of the same kind with --address",
                              options.host, to_string(endpoint.gid())));
  }
  Outcome<std::unique_ptr<RdmaCm>> cm = RdmaCm::open(endpoint);
  if (!cm) return tl::unexpected(cm.error());
  print_note("ready", endpoint.description(), options.endpoint.json);
  ProgramReport report;
  report.program = program;
  report.peer = to_string(*to);
  ConnectPlan plan;
  plan.to = *to;
  plan.port = options.port;
  plan.traffic_class = options.traffic_class;
  auto running = std::make_unique<Script>(script(**cm, plan, report));
  bool is_connected = false;
  const Outcome<bool> ran = endpoint.driver().run([&](Time time) {
    bool moved = (*cm)->step(time);
    moved |= running->step(time);
    while (endpoint.port().poll_event(time)) {
    }
    if (!is_connected && report.begun != kNever) {
      is_connected = true;
      print_note("connected", fmt::format("connected to {} port {}", report.peer, options.port), options.endpoint.json);
    }
    if (running->is_over()) return Driver::Step::done;
    endpoint.driver().wake_at(running->next_timeout());
    return moved ? Driver::Step::busy : Driver::Step::idle;
  });
  if (!ran) return tl::unexpected(ran.error());
  report.error = *ran ? running->error() : "interrupted";
  // One that was interrupted ends its connection, and the peer is told.
  running.reset();
  (*cm)->step(now());
  endpoint.driver().settle(now() + std::chrono::milliseconds{100});
  print_program(report, options.endpoint.json);
  if (Outcome<void> closed = endpoint.close(); !closed) return tl::unexpected(closed.error());
  return report.error.empty() ? ExitCode::ok : ExitCode::failed;
}

}  // namespace roce::gen
