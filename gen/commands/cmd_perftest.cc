// SPDX-License-Identifier: BSD-2-Clause
#include "gen/commands/commands.h"
#include "runtime/note.h"

#include <fmt/core.h>

#include <memory>
#include <optional>

#include "command_line/ending.h"
#include "command_line/program.h"
#include "gen/perftest/channel.h"
#include "gen/perftest/connections.h"
#include "gen/perftest/options.h"
#include "gen/perftest/rdma_channel.h"
#include "gen/perftest/report.h"
#include "gen/perftest/session.h"
#include "options/program_endpoint.h"
#include "roce/live/endpoint.h"
#include "roce/live/rdma_cm.h"
#include "roce/live/script.h"
#include "roce/live/tcp.h"

namespace roce::gen {

namespace {

/// How long the last messages may take to go out at the end.
constexpr Duration kSettleTime = std::chrono::milliseconds{100};

struct ClientOptions {
  options::ProgramOptions endpoint;
  PerftestOptions perftest;
  std::uint16_t port = kPerftestPort;
  std::string program;
  std::string host;
  bool by_cm = false;
};

[[nodiscard]] live::Task<> be_client(live::Endpoint& endpoint, const PerftestOptions& options,
                                     TcpPerftestChannel& channel, PerftestReport& report) {
  co_await channel.establish();
  co_await run_perftest(endpoint, options, PerftestRole::client, channel, report);
}

[[nodiscard]] live::Task<> be_client_by_cm(live::RdmaCm& cm, const PerftestOptions& options,
                                           const live::ConnectPlan& plan, PerftestConnections& connections,
                                           PerftestReport& report) {
  const Time now = co_await live::this_time{};
  RdmaPerftestChannel channel{cm, now};
  co_await channel.connect(plan);
  co_await run_perftest(cm.endpoint(), options, PerftestRole::client, channel, report, &connections);
}

/// The way to the server, TCP or RDMA CM as the options ask; must live as long as the client's script runs.
struct Transport {
  std::unique_ptr<TcpPerftestChannel> tcp;
  std::unique_ptr<live::RdmaCm> cm;
  std::unique_ptr<PerftestConnections> connections;
  live::ConnectPlan plan;
};

[[nodiscard]] Outcome<Transport> open_transport(live::Endpoint& endpoint, const ClientOptions& options) {
  Transport transport;
  if (!options.by_cm) {
    live::Result<live::Tcp> tcp = live::Tcp::connect(options.host, options.port);
    if (!tcp) return tl::unexpected(tcp.error());
    transport.tcp = std::make_unique<TcpPerftestChannel>(endpoint.driver(), std::move(*tcp));
    return transport;
  }
  const live::Result<Gid> to = live::resolve_host(options.host);
  if (!to) return tl::unexpected(to.error());
  if (endpoint.gid().is_ipv4_mapped() != to->is_ipv4_mapped()) {
    return cannot(fmt::format("{} cannot be reached from {}: choose an address of the same kind with --address",
                              options.host, to_string(endpoint.gid())));
  }
  live::Result<std::unique_ptr<live::RdmaCm>> cm = live::RdmaCm::open(endpoint);
  if (!cm) return tl::unexpected(cm.error());
  transport.cm = std::move(*cm);
  transport.plan = {.to = *to, .port = options.port, .responder_resources = 0, .initiator_depth = 0};
  transport.connections = std::make_unique<PerftestConnections>(*transport.cm, transport.plan);
  return transport;
}

[[nodiscard]] Outcome<ExitCode> run(ClientOptions options) {
  const std::optional<PerftestProgram> program = find_perftest(options.program);
  if (!program) {
    return cannot(
        fmt::format("\"{}\" is no program of perftest; there are send, write, read and atomic, each with _bw and _lat",
                    options.program));
  }
  options.perftest.program = *program;
  Outcome<std::unique_ptr<options::ProgramEndpoint>> opened = options::ProgramEndpoint::open(options.endpoint);
  if (!opened) return tl::unexpected(opened.error());
  live::Endpoint& endpoint = (*opened)->first();
  const Outcome<PerftestOptions> perftest = complete(options.perftest, endpoint.max_path_mtu());
  if (!perftest) return tl::unexpected(perftest.error());
  runtime::print_note("ready", endpoint.description(), options.endpoint.json);
  Outcome<Transport> transport = open_transport(endpoint, options);
  if (!transport) return tl::unexpected(transport.error());
  PerftestReport report;
  report.program = *program;
  report.role = PerftestRole::client;
  report.peer = fmt::format("{} port {}", options.host, options.port);
  report.by_cm = options.by_cm;
  std::optional<live::Script> script;
  if (options.by_cm) {
    script.emplace(be_client_by_cm(*transport->cm, *perftest, transport->plan, *transport->connections, report));
  } else {
    script.emplace(be_client(endpoint, *perftest, *transport->tcp, report));
  }
  const live::Result<bool> ran = endpoint.driver().run([&](Time time) {
    bool moved = transport->cm && transport->cm->step(time);
    moved |= script->step(time);
    while (endpoint.port().poll_event(time)) {
    }
    if (script->is_over()) return live::Driver::Step::done;
    endpoint.driver().wake_at(script->next_timeout());
    return moved ? live::Driver::Step::busy : live::Driver::Step::idle;
  });
  if (!ran) return tl::unexpected(ran.error());
  report.error = *ran ? script->error() : "stopped by a signal";
  // An interrupted script puts its counters into the report when it is destroyed.
  script.reset();
  if (transport->cm) {
    transport->connections.reset();
    transport->cm->step(endpoint.now());
    endpoint.driver().settle(endpoint.now() + kSettleTime);
  }
  print_perftest(report, options.endpoint.json);
  if (Outcome<void> closed = (*opened)->close(); !closed) return tl::unexpected(closed.error());
  return report.error.empty() ? ExitCode::ok : ExitCode::failed;
}

}  // namespace

void add_perftest(command_line::Program& program, ExitCode& code) {
  command_line::Command command =
      program.add_subcommand("perftest", "Be the client of a program of perftest, or of roce-gen peer --perftest");
  auto options = std::make_shared<ClientOptions>();
  options::add_endpoint_options(command, options->endpoint);
  command
      .add_option("program", options->program,
                  "send_bw, send_lat, write_bw, write_lat, read_bw, read_lat, atomic_bw or atomic_lat, with or without "
                  "ib_ before it")
      .required();
  command.add_option("host", options->host, "Host on which the server listens").required();
  command.add_option("-p,--port", options->port, "Port of the handshake: TCP, or with -R RDMA CM")
      .range(1, 65535)
      .capture_default_str();
  command.add_flag("-R,--rdma-cm", options->by_cm,
                   "Connect by RDMA CM, which carries the handshake too, as -R of perftest");
  add_perftest_options(command, options->perftest);
  command.footer(
      "Examples:\n"
      "  roce-gen perftest -i eth0 ib_write_bw 192.0.2.7       where ib_write_bw -d mlx5_0 -x 3 runs\n"
      "  roce-gen perftest -i eth0 send_lat -n 10000 -s 64 192.0.2.7\n"
      "                                                        where ib_send_lat -d rxe0 -x 1 -n 10000 -s 64 runs\n"
      "  roce-gen perftest -i eth0 -R read_bw 192.0.2.7        where ib_read_bw -R -d mlx5_0 -x 3 runs\n"
      "Exit code: 0 the exchange completed, 1 it failed, 2 wrong command line.");
  command.callback([options, &code] { code = command_line::ending_of("roce-gen", run(*options)); });
}

}  // namespace roce::gen
