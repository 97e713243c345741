// SPDX-License-Identifier: BSD-2-Clause
#include "gen/librdmacm/program_client.h"
#include "runtime/note.h"

#include <fmt/format.h>

#include <optional>

#include "command_line/command.h"
#include "roce/live/run_script.h"
#include "roce/live/tcp.h"

namespace roce::gen {

namespace {

constexpr const char* kInterrupted = "interrupted";
/// How long the last messages may take to go out at the end.
constexpr Duration kSettleTime = std::chrono::milliseconds{100};

[[nodiscard]] Outcome<ExitCode> finish(options::ProgramEndpoint& program, const ProgramReport& report, bool json) {
  live::Endpoint& endpoint = program.first();
  endpoint.driver().settle(endpoint.now() + kSettleTime);
  print_program(report, json);
  if (Outcome<void> closed = program.close(); !closed) return tl::unexpected(closed.error());
  return report.error.empty() ? ExitCode::ok : ExitCode::failed;
}

}  // namespace

void add_client_options(command_line::Command& command, ClientOptions& options) {
  options::add_endpoint_options(command, options.endpoint);
  command.add_option("-p,--port", options.port, "RDMA port of the server").range(1, 65535).capture_default_str();
  command.add_option("--tos", options.traffic_class, "Traffic class of the connection, both ways: DSCP * 4 + ECN")
      .range(0, 255);
  command.add_option("host", options.host, "Host on which the server listens").required();
}

void add_message_client_options(command_line::Command& command, MessageClientOptions& options, std::uint32_t max_size) {
  add_client_options(command, options.client);
  command.add_option("-C,--count", options.messages.count, "Messages each way, as at the server")
      .range(1U, 10'000U)
      .capture_default_str();
  command.add_option("-S,--size", options.messages.size, "Bytes of a message, as at the server")
      .range(1U, max_size)
      .capture_default_str();
}

Outcome<ExitCode> run_client(const ClientOptions& options, const std::string& program, const ClientScript& script) {
  const live::Result<Gid> to = live::resolve_host(options.host);
  if (!to) return tl::unexpected(to.error());
  Outcome<std::unique_ptr<options::ProgramEndpoint>> opened = options::ProgramEndpoint::open(options.endpoint);
  if (!opened) return tl::unexpected(opened.error());
  live::Endpoint& endpoint = (*opened)->first();
  if (endpoint.gid().is_ipv4_mapped() != to->is_ipv4_mapped()) {
    return cannot(fmt::format("{} cannot be reached from {}: choose an address of the same kind with --address",
                              options.host, to_string(endpoint.gid())));
  }
  live::Result<std::unique_ptr<live::RdmaCm>> cm = live::RdmaCm::open(endpoint);
  if (!cm) return tl::unexpected(cm.error());
  runtime::print_note("ready", endpoint.description(), options.endpoint.json);
  ProgramReport report;
  report.program = program;
  report.peer = to_string(*to);
  live::ConnectPlan plan;
  plan.to = *to;
  plan.port = options.port;
  plan.traffic_class = options.traffic_class;
  std::optional<live::Script> running;
  running.emplace(script(**cm, plan, report));
  bool is_connected = false;
  const live::Result<bool> ran = endpoint.driver().run([&](Time time) {
    const bool moved = (*cm)->step(time);
    const live::Driver::Step stepped = step_script(endpoint, *running, time);
    if (!is_connected && report.begun != kNever) {
      is_connected = true;
      runtime::print_note("connected", fmt::format("connected to {} port {}", report.peer, options.port),
                          options.endpoint.json);
    }
    return stepped == live::Driver::Step::idle && moved ? live::Driver::Step::busy : stepped;
  });
  if (!ran) return tl::unexpected(ran.error());
  report.error = *ran ? running->error() : kInterrupted;
  // A script that was interrupted ends its connection here, and the peer is told.
  running.reset();
  (*cm)->step(endpoint.now());
  return finish(**opened, report, options.endpoint.json);
}

Outcome<ExitCode> run_to_the_end(options::ProgramEndpoint& program, live::Script& script, ProgramReport& report,
                                 bool json) {
  live::Endpoint& endpoint = program.first();
  const live::Result<bool> ran = endpoint.driver().run([&](Time time) { return step_script(endpoint, script, time); });
  if (!ran) return tl::unexpected(ran.error());
  report.error = *ran ? script.error() : kInterrupted;
  return finish(program, report, json);
}

}  // namespace roce::gen
